import { AsyncLocalStorage } from 'node:async_hooks';
import type pg from 'pg';
import type { QueryConfig, QueryResult, QueryResultRow } from 'pg';
import { UnavailableFault } from '#libs/faults';
import { type CallerIdentity, CallerTurns, NoTurnInTime, type TurnLimits } from '#libs/service';
import { sqlState } from './outage.js';

/**
 * Registers a callback for the moment at which the client of a request closes its connection. Returns false if the
 * connection is closed already; the callback is then not called.
 */
export type WhenGone = (done: () => void) => boolean;

/**
 * Error that ends a read: the read took too long, waited too long for its turn, or its client has left. The client may
 * repeat it.
 */
export class ReadEnded extends UnavailableFault {
  override readonly name: string = 'ReadEnded';

  override get reason(): string {
    return 'READ_ENDED';
  }
}

/** Reports that the client left before its response was complete. */
class ClientLeft extends ReadEnded {
  override readonly name = 'ClientLeft';

  constructor() {
    super('The client left before it had its answer');
  }
}

interface Client {
  whenGone: WhenGone;
  /** Signal that aborts when the client leaves; absent until the first query needs it. */
  gone?: AbortSignal;
}

const clients = new AsyncLocalStorage<Client>();

/**
 * Executes work for a client: lists and searches (SharedReads) within the work end when the client leaves. Without
 * `whenGone` they run to their end.
 */
export function forClient<T>(whenGone: WhenGone | undefined, work: () => T): T {
  return whenGone ? clients.run({ whenGone }, work) : work();
}

/**
 * Returns a signal that aborts with ClientLeft when the client of the current work leaves; `undefined` outside
 * `forClient`.
 */
export function clientGone(): AbortSignal | undefined {
  const client = clients.getStore();
  if (!client) return undefined;
  client.gone ??= goneSignal(client.whenGone);
  return client.gone;
}

/** Returns a signal that aborts with ClientLeft when a client leaves. */
export function goneSignal(whenGone: WhenGone): AbortSignal {
  const gone = new AbortController();
  if (!whenGone(() => gone.abort(new ClientLeft()))) gone.abort(new ClientLeft());
  return gone.signal;
}

/**
 * Number of sessions for lists and searches, separate from the sessions for Messages, cancellations and Task claims.
 */
export const SHARED_READS = 4;
/** Maximum duration of a list or search in the database, in milliseconds (`statement_timeout`). */
export const STATEMENT_MS = 60_000;
/** Limits of lists and searches. A statement waits at most 30 seconds for its turn. */
const LISTS: TurnLimits = { places: SHARED_READS, placesOfACaller: 2, placesOfATenant: 3, waitMs: 30_000 };
/** Limits of page-by-page reads, such as long logs, in the sessions of plain queries. */
const LOGS: TurnLimits = { places: 8, placesOfACaller: 4, placesOfATenant: 6, waitMs: 30_000 };

const TOO_SLOW = `The query took longer than ${STATEMENT_MS / 1000} seconds; narrow it down, or try again later`;
const TOO_MANY = 'Too many lists and searches are under way; try again later';

/**
 * Executes lists, searches and counts: statements that read as many rows as a caller has.
 * - They have separate sessions, so no other statement waits behind them.
 * - Callers take turns; a caller has at most two at a time, a tenant three.
 * - A statement ends after a minute, and as soon as its client leaves.
 */
export class SharedReads {
  private readonly lists: CallerTurns;
  private readonly logs = new CallerTurns(LOGS);

  /**
   * @param pool `SHARED_READS` sessions with a statement timeout
   * @param others pool on whose sessions `pg_cancel_backend` runs, to cancel statements of `pool`
   */
  constructor(
    private readonly pool: pg.Pool,
    private readonly others: Pick<pg.Pool, 'query'>,
    limits = LISTS,
  ) {
    this.lists = new CallerTurns(limits);
  }

  /**
   * Executes a statement in the caller's turn.
   * @throws ReadEnded if it took too long, had no turn in time, or its client left
   */
  async queryInTurn<R extends QueryResultRow>(
    caller: CallerIdentity,
    statement: QueryConfig,
    execute: ExecuteStatement = executePlainly,
  ): Promise<QueryResult<R>> {
    const gone = clientGone();
    try {
      return await this.lists.runInTurn(caller, () => this.inSession<R>(statement, gone, execute), gone);
    } catch (error) {
      gone?.throwIfAborted();
      if (error instanceof NoTurnInTime) throw new ReadEnded(TOO_MANY, { cause: error });
      if (sqlState(error) === QUERY_CANCELED) throw new ReadEnded(TOO_SLOW, { cause: error });
      throw error;
    }
  }

  /**
   * Executes a statement as `queryInTurn` does, with settings that make the planner read rows in the order of an index
   * instead of sorting them, where an index has that order. The statement then stops at its limit of rows, even if the
   * planner's estimate of their number is wrong.
   */
  queryInIndexOrder<R extends QueryResultRow>(caller: CallerIdentity, statement: QueryConfig): Promise<QueryResult<R>> {
    return this.queryInTurn<R>(caller, statement, executeInIndexOrder);
  }

  /**
   * Executes work that reads a long log page by page, in the caller's turn and in the sessions of plain queries. At
   * most eight logs are read at a time, four of them for one caller.
   * @throws ReadEnded if the work had no turn in time, or its client left
   */
  async inTurn<T>(caller: CallerIdentity, work: () => Promise<T>): Promise<T> {
    try {
      return await this.logs.runInTurn(caller, work, clientGone());
    } catch (error) {
      if (error instanceof NoTurnInTime) throw new ReadEnded(TOO_MANY, { cause: error });
      throw error;
    }
  }

  private async inSession<R extends QueryResultRow>(
    statement: QueryConfig,
    gone: AbortSignal | undefined,
    execute: ExecuteStatement,
  ): Promise<QueryResult<R>> {
    const session = await this.pool.connect();
    let canceling: Promise<unknown> | undefined;
    const startCancel = (): void => void (canceling ??= this.cancelStatement(session));
    try {
      gone?.addEventListener('abort', startCancel, { once: true });
      if (gone?.aborted) throw gone.reason;
      return await execute<R>(session, statement);
    } finally {
      gone?.removeEventListener('abort', startCancel);
      await canceling;
      // A late cancel must not reach the next statement of the session.
      session.release(canceling !== undefined);
    }
  }

  private async cancelStatement(session: pg.PoolClient): Promise<void> {
    const { processID } = session as unknown as { processID: number | null };
    await this.others.query('SELECT pg_cancel_backend($1)', [processID]).catch(() => undefined);
  }
}

const QUERY_CANCELED = '57014';

type ExecuteStatement = <R extends QueryResultRow>(
  session: pg.PoolClient,
  statement: QueryConfig,
) => Promise<QueryResult<R>>;

const executePlainly: ExecuteStatement = (session, statement) => session.query(statement);

/**
 * Executes a statement in a session with sorts, bitmap scans and JIT compilation turned off, and restores these
 * settings afterwards. The session executes no other statement meanwhile. JIT is off because a sort that cannot be
 * avoided has a very high estimated cost, for which PostgreSQL would compile the plan; that takes seconds.
 */
const executeInIndexOrder: ExecuteStatement = async (session, statement) => {
  await session.query('SET enable_sort = off; SET enable_bitmapscan = off; SET jit = off');
  try {
    return await session.query(statement);
  } finally {
    // A session on which this fails is lost, or it is canceled, and then discarded.
    await session.query('RESET enable_sort; RESET enable_bitmapscan; RESET jit').catch(() => undefined);
  }
};

/**
 * Batches concurrent `get` calls into one query. Each call is answered by a query that began after the call, so the
 * answer is as fresh as if the call had a query of its own. Under load all callers share the cost of a query.
 */
export class BatchLoader<K, V> {
  private waiting: { key: K; resolve(value: V | undefined): void; reject(error: unknown): void }[] = [];
  /** Number of queries under way. */
  private reading = 0;

  /**
   * @param read queries the values of the keys; each key is passed once
   * @param most maximum number of `get` calls that one query answers
   * @param atOnce maximum number of concurrent queries: a slow query delays only the calls that it answers
   */
  constructor(
    private readonly read: (keys: readonly K[]) => Promise<ReadonlyMap<K, V>>,
    private readonly most = Infinity,
    private readonly atOnce = 1,
  ) {}

  /** Returns the value of a key; `undefined` if there is none. Rejects like the query. */
  get(key: K): Promise<V | undefined> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ key, resolve, reject });
      if (this.reading >= this.atOnce) return;
      this.reading += 1;
      // Calls in the same turn of the event loop share a query.
      setImmediate(() => void this.readAll());
    });
  }

  private async readAll(): Promise<void> {
    while (this.waiting.length > 0) {
      const asked = this.waiting.splice(0, this.most);
      try {
        const found = await this.read([...new Set(asked.map(({ key }) => key))]);
        for (const question of asked) question.resolve(found.get(question.key));
      } catch (error) {
        for (const question of asked) question.reject(error);
      }
    }
    this.reading -= 1;
  }
}
