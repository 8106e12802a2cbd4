import { createHash, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { sqlState } from '../database/outage.js';

/** A database as its server tells it from all others. A physical copy has the same. */
export interface DatabasePlace {
  /** `system_identifier` of the server; null where this role may not read it. */
  server: string | null;
  /** The object id of the database at its server. */
  database: string;
}

/** The installation that keeps its data in a database, and where that was when a service started there last. */
export interface Installation extends DatabasePlace {
  /** New with every database that a service fills; a copy of the database has it as well. */
  id: string;
}

type Queryable = Pick<pg.ClientBase, 'query'>;

/** Reads where the database of the session is. */
export async function readPlace(session: Queryable): Promise<DatabasePlace> {
  const { rows } = await session.query<{ database: string }>(
    'SELECT oid::text AS database FROM pg_database WHERE datname = current_database()',
  );
  return { server: await readServer(session), database: rows[0]!.database };
}

/** Returns the installation of the database, which is made at this place where there is none. */
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

/** Notes that the installation is at this place from now on. Does nothing in a database of a version without. */
export async function moveInstallation(session: Queryable): Promise<void> {
  const { rows } = await session.query<{ there: boolean }>(`SELECT to_regclass('installation') IS NOT NULL AS there`);
  if (!rows[0]!.there) return;
  const { server, database } = await readPlace(session);
  await session.query('UPDATE installation SET server = $1, database = $2, moved_at = now()', [server, database]);
}

/**
 * Returns eight hexadecimal digits that stand for the installation at its place: a copy of the database that a service has
 * adopted has others. A physical copy has the same.
 */
export async function installationTag(session: Queryable): Promise<string> {
  const { id, server, database } = await readInstallation(session, await readPlace(session));
  return createHash('sha256')
    .update(JSON.stringify(['tag', id, server, database]))
    .digest('hex')
    .slice(0, TAG_DIGITS);
}

const TAG_DIGITS = 8;

/** True if the places are two databases for certain: a server that cannot be read may be the same. */
export function isElsewhere(known: DatabasePlace, here: DatabasePlace): boolean {
  if (known.server !== null && here.server !== null && known.server !== here.server) return true;
  return known.database !== here.database;
}

/** Returns the value of ADOPT_DATABASE that lets this installation go on at this place, and at no other. */
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

/** No such function, no right to call it, and a server that has no such thing. */
const NOT_REPORTED = new Set(['42883', '42501', '0A000']);
