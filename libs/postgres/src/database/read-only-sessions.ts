import pg from 'pg';
import { isReadOnly, ofSession, retryUntilWritable } from './outage.js';

/** Pause between two replacements: while the server only reads, new sessions are read-only as well. */
const LEAST_PAUSE_MS = 5_000;

/** Server messages that pg emits. */
interface ServerMessageEvents {
  on(event: 'errorMessage', listener: (error: unknown) => void): void;
  on(event: 'parameterStatus', listener: (status: { parameterName: string; parameterValue: string }) => void): void;
}

/** Parameters that PostgreSQL reports at the start of a session, and at each change (from version 14 on). */
const SAYS_READ_ONLY = new Set(['default_transaction_read_only', 'in_hot_standby']);

/**
 * Replaces the sessions of a process that turned out to be read-only.
 *
 * Sessions with a standby, with a replaced primary, or begun while the database was read-only
 * (`default_transaction_read_only`) stay read-only. They return stale data or refuse writes, although the server at the
 * same address may accept writes again.
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

  /** Watches a pool. Call it before the pool has sessions. */
  watchPool(pool: pg.Pool): void {
    this.pools.add(pool);
    pool.on('connect', (client) => client.on('error', ofSession));
    // The pool does not take back a session that is being ended.
    pool.on('release', (_error, client) => {
      if (this.isOld(client)) void (client as pg.PoolClient & Pick<pg.Client, 'end'>).end();
    });
  }

  /** Calls the listener when sessions are to be replaced. */
  onRenewal(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Ends every session that began before this call. */
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

  /** Watches a session. Call it before the session connects. */
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
 * Derives a client class that watches a session from its construction, since the server reports its state at the start.
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

/** Marks errors of connecting before they are passed on. */
function notedConnect(connect: Connect): (callback?: Connected) => Promise<pg.PoolClient> | void {
  return (callback) => {
    if (callback !== undefined) return connect((error, ...connected) => callback(ofSession(error), ...connected));
    const { promise, resolve, reject } = Promise.withResolvers<pg.PoolClient>();
    connect((error, client) => (client === undefined ? reject(ofSession(error)) : resolve(client)));
    return promise;
  };
}
