import { existsSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import {
  EmbeddedPostgres,
  encodingProblem,
  isDatabaseAway,
  PostgresRefusal,
  SecretBox,
  sqlState,
} from '#libs/postgres';
import { type AppConfig, ConfigError, loadConfig, requiredAuth } from '#libs/service';
import { databaseError, databaseSession } from './database-session.js';
import { CommandError, EXIT } from './exit-code.js';
import { postgresProgram, type PostgresProgram, type ProgramName, type ProgramNeed } from './postgres-programs.js';
import type { Session } from './session.js';

const ANSWER_MS = 10_000;
/** First major version of libpq that supports `require_auth`, by which the server must authenticate itself. */
const PROVING_VERSION = 16;

/** Connection to the service's database, with the program and keys that a backup or restore of it needs. */
export interface ServiceDatabase {
  url: string;
  client: pg.Client;
  /** Major version of the database's server. */
  version: number;
  /** `pg_dump` or `pg_restore`, in a version that works with the server. */
  program: PostgresProgram;
  /** Keys of the variable `CREDENTIALS_KEY`, which decrypt stored secrets. */
  credentialsKeys: readonly Buffer[];
}

interface Purpose {
  program: ProgramName;
  /** True if a missing database under `DATA_DIR` is created. */
  mayBeNew: boolean;
}

/**
 * Calls `work` with the database of `DATABASE_URL`, else with the embedded one under `DATA_DIR`. If the embedded server
 * is not running, it is started before `work` and stopped after it.
 * @throws CommandError if `purpose.program` (`pg_dump` or `pg_restore`) is missing (an embedded server is then neither
 * created nor started), if there is no database and none may be created, or if the database cannot be reached
 */
export async function withServiceDatabase<T>(
  { terminal }: Session,
  purpose: Purpose,
  work: (database: ServiceDatabase) => Promise<T>,
): Promise<T> {
  const { databaseUrl, dataDir, credentialsKeys } = readConfig(terminal.env);
  const workAt = (url: string): Promise<T> => connectAndWork(url, purpose, credentialsKeys, work);
  if (databaseUrl !== undefined) return workAt(databaseUrl);
  if (!purpose.mayBeNew && !existsSync(join(dataDir, 'postgres')))
    throw new CommandError(`There is no service's database under ${dataDir}: name it with DATA_DIR or DATABASE_URL.`);
  const embedded = await startEmbedded(dataDir, purpose.program);
  try {
    return await workAt(embedded.url);
  } finally {
    await embedded.stop();
  }
}

async function connectAndWork<T>(
  url: string,
  { program }: Purpose,
  credentialsKeys: readonly Buffer[],
  work: (database: ServiceDatabase) => Promise<T>,
): Promise<T> {
  const client = await databaseSession(url, ANSWER_MS);
  try {
    // A backup may take hours, during which this session is idle.
    await client.query('SET idle_session_timeout = 0');
    const { rows } = await client.query<{ version: number; encoding: string }>(
      `SELECT current_setting('server_version_num')::int / 10000 AS version, current_setting('server_encoding') AS encoding`,
    );
    const { version, encoding } = rows[0]!;
    const problem = program === 'pg_restore' ? encodingProblem(encoding) : undefined;
    if (problem !== undefined) throw new CommandError(problem);
    const found = postgresProgram(program, needOf(version, url));
    return await work({ url, client, version, program: found, credentialsKeys });
  } catch (error) {
    if (error instanceof pg.DatabaseError || isDatabaseAway(error)) throw databaseError(error);
    throw error;
  } finally {
    await client.end().catch(() => undefined);
  }
}

function needOf(version: number, url: string): ProgramNeed {
  if (requiredAuth(url) !== undefined && version < PROVING_VERSION)
    return { version: PROVING_VERSION, because: 'require_auth in DATABASE_URL' };
  return { version, because: `PostgreSQL ${version}` };
}

async function startEmbedded(dataDir: string, program: ProgramName): Promise<EmbeddedPostgres> {
  try {
    const version = EmbeddedPostgres.majorVersion();
    postgresProgram(program, { version, because: `The database under DATA_DIR, PostgreSQL ${version},` });
    return await EmbeddedPostgres.start({ dataDir });
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const { message } = error as Error;
    throw new CommandError(error instanceof PostgresRefusal ? message : `DATA_DIR: ${message}`, EXIT.failed);
  }
}

function readConfig(env: Session['terminal']['env']): AppConfig {
  try {
    return loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) throw new CommandError(error.lines.join('\n'));
    throw error;
  }
}

/** Number of encrypted (sealed) secrets, by the key that decrypts them. */
export interface SealedSecrets {
  /** Number of secrets that `CREDENTIALS_KEY` decrypts. */
  withKey: number;
  /** Number of secrets that the key in the same database decrypts. */
  withDatabase: number;
  /** Number of secrets that no known key decrypts. */
  unreadable: number;
}

/** Counts the encrypted secrets in a service's database of any version. */
export async function sealedSecrets({ client, credentialsKeys }: ServiceDatabase): Promise<SealedSecrets> {
  const readRows = async <T extends object>(sql: string): Promise<T[]> => {
    try {
      return (await client.query<T>(sql)).rows;
    } catch (error) {
      if (NOT_YET.has(sqlState(error) ?? '')) return [];
      throw error;
    }
  };
  const keys = await readRows<{ value: Buffer }>(`SELECT value FROM service_secret WHERE name = 'secrets'`);
  const keyMarks = (given: readonly Buffer[]): string[] => given.map((key) => new SecretBox([key]).mark);
  const [own, beside] = [keyMarks(credentialsKeys), keyMarks(keys.map(({ value }) => value))];
  const found: SealedSecrets = { withKey: 0, withDatabase: 0, unreadable: 0 };
  for (const sql of SEALED) {
    for (const { mark, n } of await readRows<{ mark: string; n: number }>(sql)) {
      if (own.includes(mark)) found.withKey += n;
      else if (beside.includes(mark)) found.withDatabase += n;
      else found.unreadable += n;
    }
  }
  return found;
}

/** SQL states of a missing table or column, which the database of an earlier version lacks. */
const NOT_YET: ReadonlySet<string> = new Set(['42P01', '42703']);

/** Statements that count each kind of encrypted secret, from its table, column and condition. */
const SEALED = [
  ['credential', 'secret', 'true'],
  ['push_config', 'secrets', 'true'],
  ['signing_key', 'sealed_private_key', 'signs'],
].map(
  ([table, column, counts]) => `
    SELECT substring(${column} from '^[^.]*[.][^.]*[.]') AS mark, count(*)::int AS n
    FROM ${table} WHERE ${column} IS NOT NULL AND ${counts} GROUP BY 1`,
);
