import { createHash, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { sqlState } from '../database/outage.js';

/** Identity of a database at its server. A physical copy has the same identity. */
export interface DatabasePlace {
  /** Server's `system_identifier`; null if this role may not read it. */
  server: string | null;
  /** Object id of the database at its server. */
  database: string;
}

/** Installation that stores its data in a database, and the last known place of that database. */
export interface Installation extends DatabasePlace {
  /** Created with each new database of a service; a copy of the database has the same id. */
  id: string;
}

type Queryable = Pick<pg.ClientBase, 'query'>;

/** Reads the place of the session's database. */
export async function readPlace(session: Queryable): Promise<DatabasePlace> {
  const { rows } = await session.query<{ database: string }>(
    'SELECT oid::text AS database FROM pg_database WHERE datname = current_database()',
  );
  return { server: await readServer(session), database: rows[0]!.database };
}

/** Returns the installation of the database; creates it at this place if there is none. */
export async function readInstallation(session: Queryable, place: DatabasePlace): Promise<Installation> {
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
 * Returns eight hexadecimal digits that identify the installation at its place: an adopted copy has different ones, a
 * physical copy the same.
 */
export async function installationTag(session: Queryable): Promise<string> {
  const { id, server, database } = await readInstallation(session, await readPlace(session));
  return createHash('sha256')
    .update(JSON.stringify(['tag', id, server, database]))
    .digest('hex')
    .slice(0, TAG_DIGITS);
}

const TAG_DIGITS = 8;

/** True if the places are certainly two databases: a server that cannot be identified may be the same. */
export function isElsewhere(known: DatabasePlace, here: DatabasePlace): boolean {
  if (known.server !== null && here.server !== null && known.server !== here.server) return true;
  return known.database !== here.database;
}

/** Returns the value of ADOPT_DATABASE that permits this installation at this place, and at no other. */
export function adoptionCode({ id }: Pick<Installation, 'id'>, { server, database }: DatabasePlace): string {
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
