import { setTimeout as delay } from 'node:timers/promises';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;
const LONGEST_READ_ONLY_MS = 10_000;

/**
 * SQLSTATEs of what passes:
 * - classes 08 (connection), 40 (rolled back for another transaction's sake), 53 (resources), 58 (the server's system) and
 *   57P (shutdown, crash, start);
 * - 25006: a server that only reads, as a standby does and a primary that was replaced;
 * - 57014 and 55P03: statements canceled, by somebody or by a limit on their time, and locks not to be had in time;
 * - 54000, 42501 and 0A000: a server that stops before its transaction ids wrap around, grants that are missing at the
 *   moment, and plans made before a table changed. An operator mends them; no Task is at fault;
 * - XX000: what a server says that dies.
 */
const PASSING = /^(08...|40...|53...|58...|57P..|25006|57014|55P03|54000|42501|0A000|XX000)$/;

/**
 * What may succeed when it is done again: what passes at the server (see above), whatever it ends the session with, and
 * failures of the socket or the pool.
 */
export function isOutage(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError) return false;
  const state = sqlState(error);
  return state === undefined || PASSING.test(state) || endsSession(error);
}

/** Errors of sessions that no server said anything about: connections refused, broken or not to be had in time. */
const OF_SESSIONS = new WeakSet<object>();

/** Notes that an error came from a session with the database, so that it can be told from those of other connections. */
export function ofSession<T>(error: T): T {
  if (typeof error === 'object' && error !== null && sqlState(error) === undefined && isOutage(error))
    OF_SESSIONS.add(error);
  return error;
}

/**
 * Whether an error says that the database is out of reach, or takes nothing, at the moment: whoever asked may come back.
 * Also where TypeORM wrapped it. Never true for what another server or a caller did.
 */
export function isDatabaseAway(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  if (OF_SESSIONS.has(error)) return true;
  const state = sqlState(error);
  if (state !== undefined) return PASSING.test(state) || endsSession(error);
  const { driverError } = error as { driverError?: unknown };
  if (driverError !== undefined && driverError !== error) return isDatabaseAway(driverError);
  return error instanceof Error && BROKEN_SESSION.test(error.message);
}

/** What node-postgres says of sessions that broke, and of those that were not to be had in time; it has no codes. */
const BROKEN_SESSION =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|Client was closed and is not queryable)/;

/** What the server said an error is; `undefined` where no server said it. */
export function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && code.length === 5 && !code.startsWith('E') ? code : undefined;
}

/** Whether the server refused to write at all. Then the statement, and the transaction that it is part of, did nothing. */
export function isReadOnly(error: unknown): boolean {
  return sqlState(error) === '25006';
}

/** True if the server ended the session with this error. */
export function endsSession(error: unknown): boolean {
  return ['FATAL', 'PANIC'].includes((error as { severity?: string }).severity ?? '');
}

/** Whether PostgreSQL rolled a transaction back so that another one could go on: class 40 (deadlocks), or it stood still. */
export function isRolledBack(error: unknown): boolean {
  const state = sqlState(error) ?? '';
  return state.startsWith('40') || state === '25P03';
}

/**
 * Does again what failed because the database was out of reach, until it is back. For statements that may run twice.
 * @throws the signal's reason once it is aborted; any other error as it is
 */
export async function throughOutage<T>(statement: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return await statement();
    } catch (error) {
      signal.throwIfAborted();
      if (!isOutage(error)) throw error;
    }
    await delay(pause, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

/**
 * Asks again while the database is out of reach. For what may be asked twice, and does more than one statement.
 * @throws the signal's reason once it is aborted; at once whatever is no word of the database
 */
export async function untilReached<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const answer = await throughOutage(async () => {
    try {
      return { value: await ask() };
    } catch (error) {
      if (isDatabaseAway(error)) throw error;
      return { error };
    }
  }, signal);
  if ('error' in answer) throw answer.error;
  return answer.value;
}

/**
 * Does again what a server refused because it only reads, for ten seconds: so long a replacement of the primary may take.
 * For whole transactions; the sessions they come to after that are new ones (see ReadOnlySessions).
 */
export async function onceWritable<T>(transaction: () => Promise<T>, cause?: unknown): Promise<T> {
  const deadline = performance.now() + LONGEST_READ_ONLY_MS;
  let refusal = cause;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    if (refusal !== undefined) await delay(pause);
    try {
      return await transaction();
    } catch (error) {
      if (!isReadOnly(error) || performance.now() > deadline) throw error;
      refusal = error;
    }
  }
}
