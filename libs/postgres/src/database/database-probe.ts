import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { ConfigError, withinTime } from '#libs/service';
import { assertUtf8, clientOf, connectionOptions } from './connection-options.js';

/** Milliseconds without an answer before a probe counts the database as unreachable. */
const ANSWER_MS = 10_000;

const NO_SESSIONS =
  'DATABASE_URL: leads through a pooler that shares sessions (such as PgBouncer with pool_mode=transaction), where LISTEN ' +
  'hears nothing and session locks do not hold: name a direct or session-pooled connection, and the pooler in ' +
  'DATABASE_POOL_URL';
const NO_TRANSACTIONS =
  'DATABASE_POOL_URL: leads through a pooler without transactions (such as PgBouncer with pool_mode=statement): it must ' +
  'pool by transaction or by session';
const ANOTHER_DATABASE = 'DATABASE_POOL_URL: is not the database of DATABASE_URL';

/**
 * Checks the addresses of the database without changing the database:
 * - the database at `url` has the encoding UTF8, and a session there receives notifications and keeps its locks
 * - `poolUrl` leads to the same database and supports transactions
 * @throws ConfigError with one sentence if a check fails; other errors of the database
 */
export async function probeDatabase(url: string, poolUrl?: string): Promise<void> {
  const name = randomBytes(6);
  const probe = { lock: name.readUIntBE(0, 6), channel: `parley_probe_${name.toString('hex')}` };
  const [session, other] = [await connectProbe(url), await connectProbe(url)];
  try {
    await assertUtf8(session);
    await probeSession(session, other, probe);
    if (poolUrl !== undefined) await probePool(poolUrl, probe.lock);
  } finally {
    // A pooler would keep the subscription and the lock for the next client.
    await session.query(`UNLISTEN ${probe.channel}`).catch(() => undefined);
    await session.query('SELECT pg_advisory_unlock($1)', [probe.lock]).catch(() => undefined);
    await Promise.all([session, other].map((it) => it.end().catch(() => undefined)));
  }
}

interface Probe {
  lock: number;
  channel: string;
}

/**
 * Asserts that an idle session keeps its backend, its lock and its LISTEN while a second session works.
 * @throws ConfigError if it does not keep them. This is the case behind a transaction pooler: it gives the backend of
 * the idle session to the second session
 */
async function probeSession(session: pg.Client, other: pg.Client, { lock, channel }: Probe): Promise<void> {
  const received = new Promise<boolean>((resolve, reject) => {
    session.once('notification', () => resolve(true));
    session.once('end', () => reject(new Error('the database has ended the connection')));
  });
  // The session may end before its notification is awaited.
  received.catch(() => undefined);
  await session.query(`LISTEN ${channel}`);
  const before = await lockedBy(session, lock);
  const beside = await lockedBy(other, lock);
  if (!before.locked || beside.locked || beside.pid === before.pid) throw new ConfigError([NO_SESSIONS]);
  await other.query('BEGIN');
  await other.query('SELECT pg_notify($1, $2)', [channel, '']);
  const { pid } = await backendOf(session);
  await other.query('COMMIT');
  if (pid !== before.pid || !(await withinTime(received, ANSWER_MS))) throw new ConfigError([NO_SESSIONS]);
}

async function probePool(poolUrl: string, lock: number): Promise<void> {
  const session = await connectProbe(poolUrl);
  try {
    await session.query('BEGIN');
    const { rows } = await session.query<{ locked: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS locked', [lock]);
    await session.query('COMMIT');
    // Advisory locks are scoped to one database.
    if (rows[0]?.locked !== false) throw new ConfigError([ANOTHER_DATABASE]);
  } catch (error) {
    if (/statement pooling/.test((error as Error).message)) throw new ConfigError([NO_TRANSACTIONS]);
    throw error;
  } finally {
    await session.end().catch(() => undefined);
  }
}

interface Backend {
  pid: number;
}

async function lockedBy(session: pg.Client, lock: number): Promise<Backend & { locked: boolean }> {
  const { rows } = await session.query<Backend & { locked: boolean }>(
    'SELECT pg_backend_pid() AS pid, pg_try_advisory_lock($1) AS locked',
    [lock],
  );
  return rows[0]!;
}

async function backendOf(session: pg.Client): Promise<Backend> {
  return (await session.query<Backend>('SELECT pg_backend_pid() AS pid')).rows[0]!;
}

async function connectProbe(url: string): Promise<pg.Client> {
  const Client = clientOf(url);
  const session = new Client({ ...connectionOptions(url), query_timeout: ANSWER_MS });
  session.on('error', () => undefined);
  try {
    await session.connect();
  } catch (error) {
    await session.end().catch(() => undefined);
    throw error;
  }
  return session;
}
