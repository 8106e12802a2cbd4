import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { ConfigError } from '#libs/service';
import { sqlState } from '../database/outage.js';

/** Identity of a database at its server. A physical copy has the same identity. */
interface DatabasePlace {
  /** Server's `system_identifier`; null if this role may not read it. */
  server: string | null;
  /** Object id of the database at its server. */
  database: string;
}

/** Installation that stores its data in a database, and the last known place of that database. */
interface Installation extends DatabasePlace {
  /** Id that a service creates for each new database. A copy of the database has the same id. */
  id: string;
}

type Queryable = Pick<pg.ClientBase, 'query'>;

/** Reads the identity of the session's database: that of its server, and its object id there. */
async function readPlace(session: Queryable): Promise<DatabasePlace> {
  const { rows } = await session.query<{ database: string }>(
    'SELECT oid::text AS database FROM pg_database WHERE datname = current_database()',
  );
  return { server: await readServer(session), database: rows[0]!.database };
}

/** Returns the installation of the database; creates it at this place if there is none. */
async function readInstallation(session: Queryable, place: DatabasePlace): Promise<Installation> {
  const known = await storedInstallation(session);
  if (known) return known;
  await session.query('INSERT INTO installation (id, server, database) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', [
    randomUUID(),
    place.server,
    place.database,
  ]);
  return (await storedInstallation(session))!;
}

async function storedInstallation(session: Queryable): Promise<Installation | undefined> {
  return (await session.query<Installation>('SELECT id, server, database FROM installation')).rows[0];
}

/** Records this place as the installation's current one. Does nothing in a database of an earlier version. */
export async function moveInstallation(session: Queryable): Promise<void> {
  const { rows } = await session.query<{ there: boolean }>(`SELECT to_regclass('installation') IS NOT NULL AS there`);
  if (!rows[0]!.there) return;
  const { server, database } = await readPlace(session);
  await session.query('UPDATE installation SET server = $1, database = $2, moved_at = now()', [server, database]);
}

/**
 * Returns eight hexadecimal digits that identify the installation at its place. A copy that a service has adopted has
 * other digits; a physical copy has the same.
 */
export async function installationTag(session: Queryable): Promise<string> {
  const { id, server, database } = await readInstallation(session, await readPlace(session));
  return createHash('sha256')
    .update(JSON.stringify(['tag', id, server, database]))
    .digest('hex')
    .slice(0, TAG_DIGITS);
}

const TAG_DIGITS = 8;

/**
 * True if the two identities certainly belong to two databases. A server that cannot be identified may be the known
 * server.
 */
function isElsewhere(known: DatabasePlace, here: DatabasePlace): boolean {
  if (known.server !== null && here.server !== null && known.server !== here.server) return true;
  return known.database !== here.database;
}

/** Returns the value of ADOPT_DATABASE that permits this installation at this place, and at no other. */
function adoptionCode({ id }: Pick<Installation, 'id'>, { server, database }: DatabasePlace): string {
  return createHash('sha256')
    .update(JSON.stringify([id, server, database]))
    .digest('hex')
    .slice(0, 12);
}

async function readServer(session: Queryable): Promise<string | null> {
  try {
    const { rows } = await session.query<{ server: string }>(
      'SELECT system_identifier::text AS server FROM pg_control_system()',
    );
    return rows[0]?.server ?? null;
  } catch (error) {
    if (NOT_REPORTED.has(sqlState(error) ?? '')) return null;
    throw error;
  }
}

/** SQLSTATEs of a missing function, a missing privilege, and an unsupported feature. */
const NOT_REPORTED = new Set(['42883', '42501', '0A000']);

/**
 * Files in which services with the same `DATA_DIR` store, for each address of a database, the installation that they
 * last found there. A missing or read-only folder counts as empty.
 */
class KnownInstallations {
  private readonly folder: string;

  constructor(private readonly dataDir: string) {
    this.folder = join(dataDir, 'installations');
  }

  /** Returns the id of the installation that was last found at the address; `undefined` if none is stored. */
  findAt(databaseUrl: string): string | undefined {
    try {
      return readFileSync(this.addressFile(databaseUrl), 'utf8').trim() || undefined;
    } catch {
      return undefined;
    }
  }

  /**
   * Stores the id of the installation that was found at the address. Does not create `DATA_DIR`: only the embedded
   * database needs that folder.
   */
  noteInstallation(databaseUrl: string, id: string): void {
    const file = this.addressFile(databaseUrl);
    const part = `${file}.${process.pid}`;
    try {
      makeFolder(this.folder);
      writeFileSync(part, `${id}\n`, { mode: 0o600 });
      renameSync(part, file);
    } catch {
      // Containers may have a read-only folder, or none: the database itself still records its place.
    }
  }

  private addressFile(databaseUrl: string): string {
    return join(this.folder, createHash('sha256').update(addressOf(databaseUrl)).digest('hex').slice(0, 32));
  }
}

/** Creates a folder; fails if `DATA_DIR` is missing. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Returns the host, the port and the database of a URL, without user and options. */
function addressOf(databaseUrl: string): string {
  const { hostname, port, pathname, searchParams } = new URL(databaseUrl);
  return JSON.stringify([hostname, port || '5432', pathname, searchParams.get('host'), searchParams.get('port')]);
}

export interface RecognitionOptions {
  /** URL of the database; `undefined` for the embedded database, which lies in `dataDir` itself. */
  databaseUrl?: string;
  dataDir: string;
  /** Value of ADOPT_DATABASE; absent if it is not set. */
  adopted?: string;
  /**
   * Queries for unfinished work for which the service calls other services: each returns a row if there is such work.
   */
  underWay: readonly string[];
  /**
   * Called with a warning for the log if the service adopts a database that is not the known one: a copy, a restored
   * backup, an upgraded server, or the database of another installation.
   */
  onMoved: (sentence: string) => void;
}

/**
 * Checks that the database is still at its installation's place, and that the address still leads to the known
 * installation. Two copies of one database would call the same agents with the same Messages.
 *
 * - A difference stops the start if work is under way. Without such work nothing can be sent twice, so the service
 *   adopts the database and reports it (`onMoved`).
 * - `ADOPT_DATABASE` with the value named in the refusal adopts this one database, and no other.
 * - A failover, another address and a renamed database are no difference. A physical copy is not detected (see
 *   docs/operations/REPAIR.md, "Backups").
 *
 * @throws ConfigError with one sentence
 */
export async function recognizeInstallation(pool: pg.Pool, options: RecognitionOptions): Promise<void> {
  const { databaseUrl, adopted } = options;
  const place = await readPlace(pool);
  const installation = await readInstallation(pool, place);
  const known = new KnownInstallations(options.dataDir);
  const expected = databaseUrl === undefined ? undefined : known.findAt(databaseUrl);
  const difference = isElsewhere(installation, place)
    ? ELSEWHERE
    : expected !== undefined && expected !== installation.id
      ? ANOTHER
      : undefined;
  if (difference !== undefined) {
    const sentence = `${databaseUrl === undefined ? 'DATA_DIR' : 'DATABASE_URL'}: ${difference}`;
    const code = adoptionCode(installation, place);
    if (adopted !== code && (await isUnderWay(pool, options.underWay)))
      throw new ConfigError([`${sentence}, and work is under way in it: ${adoptionAdvice(code)}`]);
    options.onMoved(`${sentence}; it is adopted, since ${adopted === code ? 'ADOPT_DATABASE says so' : IDLE}`);
  }
  const isNewlyReported = installation.server === null && place.server !== null;
  if (difference !== undefined || isNewlyReported) await moveInstallation(pool);
  if (databaseUrl !== undefined && expected !== installation.id) known.noteInstallation(databaseUrl, installation.id);
}

const ELSEWHERE =
  'the database is not the one in which its data was served last, but a copy, a restored backup or an upgraded server';
const ANOTHER = 'the database has the data of another installation than the one that DATA_DIR knows at this address';
const IDLE = 'nothing is under way in it';

function adoptionAdvice(code: string): string {
  return (
    'make sure that no service runs on the other one, since both would call the same agents with the same Messages, and ' +
    `start with ADOPT_DATABASE=${code}`
  );
}

async function isUnderWay(pool: pg.Pool, queries: readonly string[]): Promise<boolean> {
  for (const query of queries) {
    const { rows } = await pool.query<{ exists: boolean }>(`SELECT EXISTS (${query})`);
    if (rows[0]!.exists) return true;
  }
  return false;
}
