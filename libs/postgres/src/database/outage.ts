import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Backoff } from '#libs/service';

const BACKOFF = new Backoff(50, 1_000);
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
 * True if a retry of a statement may succeed. This is the case for
 * - transient failures of the server (PASSING)
 * - errors with which the server ended the session
 * - errors without a SQLSTATE, except TypeError and RangeError, as sockets and pools report failures without a SQLSTATE
 * Use this only for errors of database statements; for errors of unknown origin use `isDatabaseAway`.
 */
export function isOutage(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError) return false;
  const state = sqlState(error);
  return state === undefined || PASSING.test(state) || endsSession(error);
}

/** Session errors that no server reported: connections refused, broken or not available in time. */
const OF_SESSIONS = new WeakSet<object>();

/**
 * Marks an error as an error of a database session, so that `isDatabaseAway` distinguishes it from errors of other
 * connections. Returns the error.
 */
export function ofSession<T>(error: T): T {
  if (typeof error === 'object' && error !== null && sqlState(error) === undefined && isOutage(error))
    OF_SESSIONS.add(error);
  return error;
}

/**
 * True if the error means that the database is unreachable or accepts no statements at the moment: the caller may
 * retry. Recognizes errors wrapped by TypeORM. Never true for errors of other servers or of callers.
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
function endsSession(error: unknown): boolean {
  return ['FATAL', 'PANIC'].includes((error as { severity?: string }).severity ?? '');
}

/**
 * True if PostgreSQL rolled the transaction back so that another transaction could proceed: class 40 (deadlocks,
 * serialization failures), or a timeout of an idle transaction.
 */
export function isRolledBack(error: unknown): boolean {
  const state = sqlState(error) ?? '';
  return state.startsWith('40') || state === '25P03';
}

/**
 * Retries a single statement while the database is unreachable (`isOutage`). The statement must be repeatable. For
 * operations of several statements use `retryWhileUnreachable`.
 * @throws the signal's reason once it is aborted; any other error unchanged
 */
export function retryWhileDatabaseDown<T>(statement: () => Promise<T>, signal: AbortSignal): Promise<T> {
  return BACKOFF.retryWhile(statement, isOutage, signal);
}

/**
 * Retries an operation of several statements while the database is unreachable (`isDatabaseAway`). The operation must
 * be repeatable.
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
 * Retries a whole transaction that a read-only server refused, for ten seconds: the duration of a failover. Later
 * attempts run in new sessions (see ReadOnlySessions).
 * @param cause error with which the server refused an attempt before this call; if present, the first attempt follows
 * after a pause
 */
export async function retryUntilWritable<T>(transaction: () => Promise<T>, cause?: unknown): Promise<T> {
  const deadline = performance.now() + LONGEST_READ_ONLY_MS;
  let refusal = cause;
  for (let attempts = 0; ; attempts += 1) {
    if (refusal !== undefined) await delay(BACKOFF.pauseAfter(attempts));
    try {
      return await transaction();
    } catch (error) {
      if (!isReadOnly(error) || performance.now() > deadline) throw error;
      refusal = error;
    }
  }
}

/**
 * Cause of a failed write:
 * - `server`: the server currently accepts no writes at all. Retry later.
 * - `refused`: the content was refused. The same write never succeeds.
 * - `unknown`: the server or the content may be the cause. If other writes succeed meanwhile, it is the content.
 */
export type WriteFailure = 'server' | 'refused' | 'unknown';

/**
 * SQLSTATEs that classify a failed write as `server`: read-only, disk full, too many connections, shutdown, crash,
 * start.
 */
const OF_SERVER = /^(25006|53100|53300|57P..)$/;
/**
 * SQLSTATEs that classify a failed write as `refused`: cardinality, data, constraints, check options, and exceptions
 * raised by triggers.
 */
const OF_CONTENT = /^(21|22|23|44|P0)...$/;
/** SQLSTATEs of errors by which a statement may have broken its session or the server: connection, internal error. */
const OF_SESSION = /^(08...|XX000)$/;
/** SQLSTATEs that leave open whether the transaction was committed: the answer to the statement was lost. */
const AFTER_COMMIT = /^(08...|57P..|40003)$/;

/**
 * Error of a statement that was not sent, because an earlier statement on its session failed. The statement may be sent
 * again.
 */
export class StatementNotSent extends Error {
  override readonly name = 'StatementNotSent';

  constructor() {
    super('A statement before it failed');
  }
}

/** Classifies the error of a writing statement. */
export function classifyWriteFailure(error: unknown): WriteFailure {
  if (error instanceof StatementNotSent) return 'server';
  if (error instanceof TypeError || error instanceof RangeError) return 'refused';
  const state = sqlState(error);
  if (state === undefined) return 'unknown';
  if (OF_SERVER.test(state)) return 'server';
  if (endsSession(error) && !OF_SESSION.test(state)) return 'server';
  return OF_CONTENT.test(state) ? 'refused' : 'unknown';
}

/** True if the statement may have ended its session or the server: no answer, class 08, an internal error. */
export function mayBreakSession(error: unknown): boolean {
  if (error instanceof StatementNotSent) return false;
  const state = sqlState(error);
  return state === undefined || OF_SESSION.test(state);
}

/** True if the transaction may have been committed although its statement failed: the answer was lost. */
export function mayBeCommitted(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError || error instanceof StatementNotSent) return false;
  const state = sqlState(error);
  return state === undefined || AFTER_COMMIT.test(state) || endsSession(error);
}

/**
 * Minimum milliseconds between two replacements of all sessions. While the server is read-only, new sessions are
 * read-only too, so to replace them again at once would not help.
 */
const LEAST_PAUSE_MS = 5_000;

/** Server messages that pg emits. */
interface ServerMessageEvents {
  on(event: 'errorMessage', listener: (error: unknown) => void): void;
  on(event: 'parameterStatus', listener: (status: { parameterName: string; parameterValue: string }) => void): void;
}

/** Parameters that PostgreSQL reports at the start of a session, and at each change (from version 14 on). */
const SAYS_READ_ONLY = new Set(['default_transaction_read_only', 'in_hot_standby']);

/**
 * Replaces all sessions of this process once one of them turns out to be read-only.
 *
 * A session stays read-only if it leads to a standby or a replaced primary, or began while the database was read-only
 * (`default_transaction_read_only`). It returns stale data or refuses writes, although the server at the same address
 * may accept writes again.
 *
 * - A refused write ends all sessions of all pools: idle ones at once, others when they are released.
 * - Sessions that begin while the server only reads are replaced until they accept writes.
 * - Without a refused write there is no cost.
 */
export class ReadOnlySessions {
  private readonly pools = new Set<pg.Pool>();
  private readonly generations = new WeakMap<object, number>();
  private generation = 0;
  private renewedAt = Number.NEGATIVE_INFINITY;
  private readonly listeners: (() => void)[] = [];
  private again?: NodeJS.Timeout;

  /** Registers a pool whose sessions are replaced. Call it before the pool has sessions. */
  watchPool(pool: pg.Pool): void {
    this.pools.add(pool);
    pool.on('connect', (client) => client.on('error', ofSession));
    // The pool does not take back a session that is being ended.
    pool.on('release', (_error, client) => {
      if (this.isOld(client)) void (client as pg.PoolClient & Pick<pg.Client, 'end'>).end();
    });
  }

  /** Calls the listener at each replacement of the sessions. */
  onRenewal(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Ends every session that began before this call: idle sessions at once, others when they are released. */
  renewSessions(): void {
    this.generation += 1;
    this.renewedAt = performance.now();
    clearTimeout(this.again);
    this.again = undefined;
    for (const pool of this.pools) {
      for (let idle = pool.idleCount; idle > 0; idle -= 1) pool.connect((_error, client) => client?.release());
    }
    for (const listener of this.listeners) listener();
  }

  /** Watches the messages of a session for signs that its server only reads. Call it before the session connects. */
  watchSession(client: pg.ClientBase): void {
    this.generations.set(client, this.generation);
    const { connection } = client as unknown as { connection: ServerMessageEvents };
    connection.on('errorMessage', (error) => {
      if (isReadOnly(error)) this.noteRefusal(client);
    });
    connection.on('parameterStatus', ({ parameterName, parameterValue }) => {
      if (SAYS_READ_ONLY.has(parameterName) && parameterValue === 'on') this.renewSoon();
    });
  }

  private noteRefusal(client: pg.ClientBase): void {
    const known = this.isOld(client);
    this.generations.set(client, Number.NEGATIVE_INFINITY);
    if (!known) this.renewSoon();
  }

  private renewSoon(): void {
    const pause = this.renewedAt + LEAST_PAUSE_MS - performance.now();
    if (pause <= 0) return this.renewSessions();
    this.again ??= setTimeout(() => this.renewSessions(), pause).unref();
  }

  private isOld(client: pg.ClientBase): boolean {
    return (this.generations.get(client) ?? this.generation) < this.generation;
  }
}

/**
 * Returns a pool class whose sessions are watched. Its `query` retries, for ten seconds, statements that a read-only
 * server refused: such statements had no effect.
 */
export function watchedPools(sessions: ReadOnlySessions): typeof pg.Pool {
  return class WatchedPool extends pg.Pool {
    constructor(options: pg.PoolConfig = {}) {
      super({ ...options, Client: watchedSessions(sessions, options.Client ?? pg.Client) });
      sessions.watchPool(this);
      this.connect = notedConnect(super.connect.bind(this) as Connect) as typeof this.connect;
      this.query = retryingQuery(this.query.bind(this) as PoolQuery) as typeof this.query;
    }
  };
}

/**
 * Derives a client class whose sessions are watched from their construction on, since the server reports its state at
 * the start of a session.
 */
function watchedSessions(sessions: ReadOnlySessions, Client: new () => pg.ClientBase): new () => pg.ClientBase {
  const Session = Client as typeof pg.Client;
  return class WatchedSession extends Session {
    constructor(config?: string | pg.ClientConfig) {
      super(config);
      sessions.watchSession(this);
    }
  };
}

type PoolQuery = (...values: unknown[]) => Promise<unknown>;

function retryingQuery(query: PoolQuery): PoolQuery {
  return (...values) => {
    const answer = query(...values);
    if (typeof values.at(-1) === 'function') return answer;
    return answer
      .catch((error: unknown) => {
        if (!isReadOnly(error)) throw error;
        return retryUntilWritable(() => query(...values), error);
      })
      .catch((error: unknown) => {
        throw ofSession(error);
      });
  };
}

type Connected = (error?: Error, client?: pg.PoolClient, release?: (error?: Error | boolean) => void) => void;
type Connect = (callback: Connected) => void;

/** Marks errors of connecting as errors of a database session (`ofSession`) before they are passed on. */
function notedConnect(connect: Connect): (callback?: Connected) => Promise<pg.PoolClient> | void {
  return (callback) => {
    if (callback !== undefined) return connect((error, ...connected) => callback(ofSession(error), ...connected));
    const { promise, resolve, reject } = Promise.withResolvers<pg.PoolClient>();
    connect((error, client) => (client === undefined ? reject(ofSession(error)) : resolve(client)));
    return promise;
  };
}
