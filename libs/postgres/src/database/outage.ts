import { setTimeout as delay } from 'node:timers/promises';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;
const LONGEST_READ_ONLY_MS = 10_000;

/**
 * SQLSTATEs of transient failures:
 * - classes 08 (connection), 40 (rolled back for another transaction), 53 (resources), 58 (the server's system) and 57P
 *   (shutdown, crash, start);
 * - 25006: a read-only server, such as a standby or a replaced primary;
 * - 57014 and 55P03: canceled statements, statement timeouts, and lock timeouts;
 * - 54000, 42501 and 0A000: a server that stops before its transaction ids wrap around, missing grants, and plans made
 *   before a table changed. An operator mends these; no Task is at fault;
 * - XX000: a message of a crashing server.
 */
const PASSING = /^(08...|40...|53...|58...|57P..|25006|57014|55P03|54000|42501|0A000|XX000)$/;

/**
 * True if a retry may succeed: transient failures of the server (see above), errors that ended the session, and
 * failures of the socket or the pool.
 */
export function isOutage(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError) return false;
  const state = sqlState(error);
  return state === undefined || PASSING.test(state) || endsSession(error);
}

/** Session errors that no server reported: connections refused, broken or not available in time. */
const OF_SESSIONS = new WeakSet<object>();

/** Marks an error as one of a database session, to distinguish it from errors of other connections. */
export function ofSession<T>(error: T): T {
  if (typeof error === 'object' && error !== null && sqlState(error) === undefined && isOutage(error))
    OF_SESSIONS.add(error);
  return error;
}

/**
 * True if the database is unreachable, or accepts no statements, at the moment: the caller may retry. Recognizes errors
 * wrapped by TypeORM. Never true for errors of other servers or of callers.
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

/** Messages of node-postgres for sessions that broke or were not available in time; it has no codes for them. */
const BROKEN_SESSION =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|Client was closed and is not queryable)/;

/** Returns the SQLSTATE of an error; `undefined` if no server reported it. */
export function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && code.length === 5 && !code.startsWith('E') ? code : undefined;
}

/** True if the server refused to write at all. The statement, and its transaction, had no effect. */
export function isReadOnly(error: unknown): boolean {
  return sqlState(error) === '25006';
}

/** True if the server ended the session with this error. */
export function endsSession(error: unknown): boolean {
  return ['FATAL', 'PANIC'].includes((error as { severity?: string }).severity ?? '');
}

/**
 * True if PostgreSQL rolled the transaction back so that another one could proceed: class 40 (deadlocks), or an idle
 * timeout.
 */
export function isRolledBack(error: unknown): boolean {
  const state = sqlState(error) ?? '';
  return state.startsWith('40') || state === '25P03';
}

/**
 * Retries a statement while the database is unreachable. For statements that may run twice.
 * @throws the signal's reason once it is aborted; any other error unchanged
 */
export async function retryWhileDatabaseDown<T>(statement: () => Promise<T>, signal: AbortSignal): Promise<T> {
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
 * Retries an operation while the database is unreachable. For repeatable operations of several statements.
 * @throws the signal's reason once it is aborted; errors of other origin at once
 */
export async function retryWhileUnreachable<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const answer = await retryWhileDatabaseDown(async () => {
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
 * Retries a transaction that a read-only server refused, for ten seconds: the duration of a failover. For whole
 * transactions; later attempts run in new sessions (see ReadOnlySessions).
 */
export async function retryUntilWritable<T>(transaction: () => Promise<T>, cause?: unknown): Promise<T> {
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
