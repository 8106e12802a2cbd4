import { Injectable } from '@nestjs/common';
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { SESSION_SETTINGS } from '../database/connection-options.js';
import { Database } from '../database/database.js';
import { isReadOnly, sqlState } from '../database/outage.js';
import { DEAD_REPLICAS, FORGET_REPLICA, HEARTBEAT, LIVING_PEERS, UNKNOWN_REPLICAS } from './replica-liveness.js';

const HEARTBEAT_MS = 2_000;
/** Milliseconds between two checks of the other replicas' locks: a free lock means a lost session. */
const LOOK_MS = 100;
const RECONNECT_MS = 100;
/** Milliseconds between the two checks that must both find a replica dead: it may be reconnecting. */
const CONFIRM_MS = 200;

/** Maximum wait of a new session for the locks of the lost session, in milliseconds. */
const LOST_LOCKS_MS = 3_000;
/**
 * Maximum age of the last heartbeat, in milliseconds, up to which a new session waits for these locks. It leaves time
 * for the next heartbeat: other replicas consider a replica dead after ten seconds without one.
 */
const LATEST_HEARTBEAT_MS = 8_000;
/**
 * Milliseconds: if less time than this is left until LATEST_HEARTBEAT_MS, a new session does not wait for the locks.
 */
const SHORTEST_WAIT_MS = 50;

/**
 * Number of earlier lock keys that a new session also locks: the key in this replica's row, and keys of later sessions
 * whose heartbeats may not have been committed.
 */
const KEPT_KEYS = 3;

/**
 * Liveness of this process as other replicas see it.
 * - A replica lives while its session holds its advisory lock, which PostgreSQL releases when the process dies, and
 *   while its heartbeat is at most ten seconds old. A frozen process keeps its lock but sends no heartbeat.
 * - Adopters of a replica's work must fence it: a frozen replica may wake up.
 * - Every statement that takes something from a dead replica must check its death again (`livenessCheckBy`). Results of
 *   this class are only hints.
 */
@Injectable()
export class ReplicaLife {
  /** Id of this replica: a UUID, new with every start of the process. */
  readonly replicaId = randomUUID();
  private session: pg.Client | undefined;
  private timer: NodeJS.Timeout | undefined;
  private ended = false;
  private reconnecting: Promise<void> | undefined;
  private readonly successors: ((replicaId: string) => Promise<void>)[] = [];
  private others = 0;
  /** Locks of the other replicas, except those known to be free. */
  private peerLocks: string[] = [];
  private lossHandler: () => void = () => undefined;
  /**
   * Time at which the newest heartbeat was sent (`performance.now()`). The interval counts from the sending, not from
   * the answer, so after a slow answer the next heartbeat follows at once.
   */
  private spokeAt = 0;
  private speaking = false;
  private hasJoined = false;
  /**
   * Lock key of the session, and earlier keys that the row may still have. The session holds all of them until a
   * heartbeat with the new key is committed; otherwise this replica would seem dead during slow commits.
   */
  private lockKeys: string[] = [];

  constructor(private readonly database: Database) {}

  /** Number of other living replicas as of the last heartbeat: up to two seconds old. */
  get peers(): number {
    return this.others;
  }

  /** Returns the number of other living replicas. Unlike `peers` it excludes those that ended seconds ago. */
  async livingPeers(): Promise<number> {
    if (this.others === 0) return 0;
    const { rows } = await this.database.pool.query<{ peers: number }>(LIVING_PEERS, [this.replicaId]);
    return rows[0]!.peers;
  }

  /** Registers this process as a replica; resolves once it counts as alive. */
  async beginLife(): Promise<void> {
    await this.openReplicaSession();
    this.timer = setInterval(() => void this.heartbeatOrCheck(), LOOK_MS);
    this.timer.unref();
  }

  /**
   * Ends the life of this replica: from now on other replicas count it as gone. Idempotent. The row of this replica
   * stays in the database for the replicas that adopt its work.
   */
  async endLife(): Promise<void> {
    this.ended = true;
    clearInterval(this.timer);
    await this.reconnecting;
    await this.session?.end().catch(() => undefined);
  }

  /**
   * Returns the ids of dead or frozen replicas, never of this one; takes 200 ms if there are any. Returns none while
   * this replica cannot prove that it lives itself (see `livenessCheckBy`).
   */
  async deadReplicas(): Promise<string[]> {
    return this.seenTwice(() => this.queryIds(DEAD_REPLICAS, [this.replicaId]));
  }

  /**
   * Returns those of the given ids that have no row in `replica`. Claims under these ids belong to no replica, living
   * or dead. Checks twice, like `deadReplicas`.
   */
  async unknownReplicas(ids: readonly string[]): Promise<string[]> {
    return this.seenTwice((among = ids) => this.queryIds(UNKNOWN_REPLICAS, [this.replicaId, among]));
  }

  /**
   * Sets the handler that is called within a tenth of a second after another replica's session was lost, to search for
   * dead replicas.
   */
  onLoss(look: () => void): void {
    this.lossHandler = look;
  }

  /**
   * Registers a function (successor) that frees the resources of a dead replica, such as its jobs and push queues. It
   * is called with the id of each dead replica, before the Tasks of that replica are adopted.
   * - The SQL statement of the function must check again that the replica is dead (`livenessCheckBy`).
   * - If the function fails, the row of the dead replica is not removed yet.
   */
  onDeath(takeOver: (replicaId: string) => Promise<void>): void {
    this.successors.push(takeOver);
  }

  /** Runs all successors (`onDeath`) for a dead replica. May be repeated. */
  async runSuccessors(replicaId: string): Promise<void> {
    for (const takeOver of this.successors) await takeOver(replicaId);
  }

  /**
   * Removes the row of a replica whose work has been taken over; keeps it if the replica lives again.
   * @returns true if this replica removed the row
   */
  async forgetReplica(replicaId: string): Promise<boolean> {
    const { rowCount } = await this.database.pool.query(FORGET_REPLICA, [this.replicaId, replicaId]);
    return rowCount === 1;
  }

  /**
   * Checks twice, CONFIRM_MS apart, and returns the ids that both checks report. If all replicas lose their sessions at
   * once, the first check may find the others dead before this replica has noticed the loss of its own session.
   */
  private async seenTwice(look: (among?: readonly string[]) => Promise<string[]>): Promise<string[]> {
    if (this.reconnecting) return [];
    const suspects = await look();
    if (suspects.length === 0) return [];
    await delay(CONFIRM_MS);
    const confirmed = new Set(await look(suspects));
    return this.reconnecting ? [] : suspects.filter((id) => confirmed.has(id));
  }

  private async openReplicaSession(): Promise<void> {
    const session = this.database.createSession('replica');
    try {
      await session.connect();
      await this.announceSession(session);
    } catch (error) {
      await session.end().catch(() => undefined);
      throw error;
    }
    session.once('end', () => this.replaceLostSession(session));
    this.session = session;
  }

  private async announceSession(session: pg.Client): Promise<void> {
    const lockKey = BigInt.asUintN(63, randomBytes(8).readBigUInt64BE()).toString();
    await session.query(SESSION_SETTINGS);
    await session.query('SELECT pg_advisory_lock($1)', [lockKey]);
    await this.lockEarlierKeys(session);
    this.lockKeys = [lockKey, ...this.lockKeys.slice(-KEPT_KEYS)];
    await this.sendHeartbeat(session);
    this.lockKeys = [lockKey];
    this.hasJoined = true;
  }

  /**
   * Locks the earlier lock keys of this replica as well, because its row names one of them until the next heartbeat is
   * committed. Other replicas would otherwise find that lock free and consider this replica dead. If a lost session
   * still holds some of the locks, waits for these.
   * - The wait is limited: a server that does not notice the loss keeps the locks for ten seconds, and the next
   *   heartbeat must not be that late.
   * - There is no wait if the old session still lives, and is only being replaced.
   */
  private async lockEarlierKeys(session: pg.Client): Promise<void> {
    const { rows } = await session.query<{ key: string; held: boolean }>(TRY_LOCKS, [this.lockKeys]);
    const missing = rows.filter(({ held }) => !held).map(({ key }) => key);
    const left = LATEST_HEARTBEAT_MS - (performance.now() - this.spokeAt);
    if (missing.length === 0 || this.session !== undefined || left < SHORTEST_WAIT_MS) return;
    await session.query(`SET lock_timeout = ${Math.floor(Math.min(LOST_LOCKS_MS, left))}`);
    await session.query(WAIT_FOR_LOCKS, [missing]).catch((error: unknown) => {
      if (sqlState(error) !== LOCK_NOT_AVAILABLE) throw error;
    });
    await session.query('RESET lock_timeout');
  }

  /** Opens a new session with a new key, since the server may not have noticed the end of the old session yet. */
  private replaceLostSession(lost: pg.Client): void {
    if (this.ended || this.session !== lost) return;
    this.session = undefined;
    this.reconnecting ??= this.joinUntilDone().finally(() => (this.reconnecting = undefined));
  }

  /**
   * Replaces a session whose server only reads: a new primary may have taken its place. The old session keeps its lock
   * until a writable session exists. If the server stays the same, this replica never seems dead.
   */
  private replaceReadOnlySession(old: pg.Client): void {
    // A server that stands still delays the end of the old session, so it is not awaited.
    this.reconnecting ??= this.joinUntilDone(true)
      .then(() => void old.end().catch(() => undefined))
      .finally(() => (this.reconnecting = undefined));
  }

  /**
   * Opens a session, with retries until this replica ends.
   * @param readOnly true if the server was read-only a moment ago: the other sessions of this process are replaced as
   *   well
   */
  private async joinUntilDone(readOnly = false): Promise<void> {
    let renew = readOnly;
    while (!this.ended) {
      try {
        await this.openReplicaSession();
        if (renew) this.database.renewSessions();
        return;
      } catch (error) {
        renew ||= isReadOnly(error);
        // The end of this replica waits for this loop, and the process may have nothing else left to do: keep the
        // timer.
        await delay(RECONNECT_MS);
      }
    }
  }

  /** Sends a heartbeat if it is due, else checks the other replicas. Uses the session for one statement at a time. */
  private async heartbeatOrCheck(): Promise<void> {
    const { session } = this;
    if (!session || this.speaking) return;
    this.speaking = true;
    try {
      if (performance.now() - this.spokeAt >= HEARTBEAT_MS) await this.sendHeartbeat(session);
      else if (this.peerLocks.length > 0) await this.checkPeerLocks(session);
    } catch (error) {
      // A broken session emits `end`, which opens the next one.
      if (isReadOnly(error)) this.replaceReadOnlySession(session);
    } finally {
      this.speaking = false;
    }
  }

  private async sendHeartbeat(session: pg.Client): Promise<void> {
    const [spokeAt, askedAt] = [performance.now(), Date.now()];
    const values = [this.replicaId, this.lockKeys[0], !this.hasJoined];
    const { rows } = await session.query<Spoken>(HEARTBEAT, values);
    this.spokeAt = spokeAt;
    const { now, peers } = rows[0]!;
    this.database.learnTime(now, askedAt);
    this.peerLocks = peers;
    this.others = peers.length;
  }

  private async checkPeerLocks(session: pg.Client): Promise<void> {
    const { rows } = await session.query<{ key: string }>({ name: 'lost', text: LOST, values: [this.peerLocks] });
    if (rows.length === 0) return;
    // Report each loss once: the search for dead replicas retries by itself.
    this.peerLocks = this.peerLocks.filter((lock) => rows.every(({ key }) => key !== lock));
    this.lossHandler();
  }

  private async queryIds(text: string, values: unknown[]): Promise<string[]> {
    const { rows } = await this.database.pool.query<{ id: string }>(text, values);
    return rows.map(({ id }) => id);
  }
}

const TRY_LOCKS = 'SELECT key::text, pg_try_advisory_lock(key) AS held FROM unnest($1::bigint[]) AS own (key)';
const WAIT_FOR_LOCKS = 'SELECT pg_advisory_lock(key) FROM unnest($1::bigint[]) AS own (key)';
const LOCK_NOT_AVAILABLE = '55P03';

/** Answer to a heartbeat: the lock keys of the other replicas with recent heartbeats, and the database's time. */
interface Spoken {
  peers: string[];
  now: Date;
}

/**
 * Finds free locks. Waiting for the locks instead would keep a snapshot, and with it every dead row. The check takes
 * shared locks for a moment, which do not count as signs of life: only exclusive locks do.
 */
const LOST = `
  SELECT key::text FROM unnest($1::bigint[]) AS peer (key)
  WHERE pg_try_advisory_lock_shared(key) AND pg_advisory_unlock_shared(key)`;
