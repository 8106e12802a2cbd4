import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type pg from 'pg';
import { Database } from '../database/database.js';
import { isReadOnly, sqlState } from '../database/outage.js';
import { SESSION_SETTINGS } from '../database/session-settings.js';
import { DEAD_REPLICAS, FORGET_REPLICA, HEARTBEAT, LIVING_PEERS, UNKNOWN_REPLICAS } from './replica-liveness.js';

const HEARTBEAT_MS = 2_000;
/** How often a replica tries the locks of the others: a lock that is free is a session that was lost. */
const LOOK_MS = 100;
const RECONNECT_MS = 100;
/** A lock must be missing twice, this far apart: its holder may be reconnecting, at the second try perhaps. */
const CONFIRM_MS = 200;

/** How long a new session waits for the locks of a lost one, at most. */
const LOST_LOCKS_MS = 3_000;
/** Age of the last heartbeat at which the next one may wait for nothing more: others count ten seconds as silence. */
const LATEST_HEARTBEAT_MS = 8_000;
/** A shorter wait for locks is none. */
const SHORTEST_WAIT_MS = 50;

/** The oldest lock keys that a session holds beside its own one: the one that was announced, and what was tried after it. */
const KEPT_KEYS = 3;

/**
 * This process as others see it. A replica lives while its own session holds its advisory lock (PostgreSQL releases
 * it the moment the process dies) and while its heartbeat is not older than ten seconds (a frozen process keeps its
 * lock). Whoever takes over a replica's work must fence it: a frozen replica may wake up. And every statement that takes
 * something from a dead replica checks again that it is dead (`livenessCheckBy`): what this class reads says only where to look.
 */
@Injectable()
export class ReplicaLife {
  /** New with every start. */
  readonly replicaId = randomUUID();
  private session: pg.Client | undefined;
  private timer: NodeJS.Timeout | undefined;
  private ended = false;
  private reconnecting: Promise<void> | undefined;
  private readonly successors: ((replicaId: string) => Promise<void>)[] = [];
  private others = 0;
  /** Of the other replicas, as far as they are not known to be free. */
  private peerLocks: string[] = [];
  private lossHandler: () => void = () => undefined;
  /** When the newest heartbeat was sent, however long its answer took: after a slow one the next follows at once. */
  private spokeAt = 0;
  private speaking = false;
  private hasJoined = false;
  /**
   * The key of the session, and those before it that the row may still have: until a heartbeat with the new one is committed,
   * the session holds them as well. Where commits are slow, this replica would seem dead for so long.
   */
  private lockKeys: string[] = [];

  constructor(private readonly database: Database) {}

  /** How many other replicas seem to live, as of the last heartbeat: up to two seconds old. */
  get peers(): number {
    return this.others;
  }

  /** Returns how many other replicas live. Unlike `peers` it does not count those that ended seconds ago. */
  async livingPeers(): Promise<number> {
    if (this.others === 0) return 0;
    const { rows } = await this.database.pool.query<{ peers: number }>(LIVING_PEERS, [this.replicaId]);
    return rows[0]!.peers;
  }

  /** Resolves once the replica is known to be alive. */
  async begin(): Promise<void> {
    await this.join();
    this.timer = setInterval(() => void this.speak(), LOOK_MS);
    this.timer.unref();
  }

  /** Leaves: from now on this replica counts as gone. Idempotent. Keeps its row, for whoever adopts its work. */
  async end(): Promise<void> {
    this.ended = true;
    clearInterval(this.timer);
    await this.reconnecting;
    await this.session?.end().catch(() => undefined);
  }

  /**
   * Returns the ids of replicas that have died or are frozen, never this one; 200 ms later where there are any. None while
   * this replica cannot show that it lives itself (see `livenessCheckBy`).
   */
  async deadReplicas(): Promise<string[]> {
    return this.seenTwice(() => this.ids(DEAD_REPLICAS, [this.replicaId]));
  }

  /** Returns those of these ids that no replica has, living or dead: what they claim belongs to nobody. Looks twice as well. */
  async unknownReplicas(ids: readonly string[]): Promise<string[]> {
    return this.seenTwice((among = ids) => this.ids(UNKNOWN_REPLICAS, [this.replicaId, among]));
  }

  /** Has somebody look for dead replicas, within a tenth of a second, whenever another one's session was lost. */
  onLoss(look: () => void): void {
    this.lossHandler = look;
  }

  /**
   * Has the successor take over from every dead replica before its Tasks are. Its statement must check that again. Where
   * it fails, the replica is not forgotten yet.
   */
  onDeath(takeOver: (replicaId: string) => Promise<void>): void {
    this.successors.push(takeOver);
  }

  /** Has all successors take over from a dead replica, however often it is called. */
  async succeed(replicaId: string): Promise<void> {
    for (const takeOver of this.successors) await takeOver(replicaId);
  }

  /**
   * Removes what is left of a replica, once its work has been taken over: nothing where it lives again.
   * @returns true if this replica removed it
   */
  async forget(replicaId: string): Promise<boolean> {
    const { rowCount } = await this.database.pool.query(FORGET_REPLICA, [this.replicaId, replicaId]);
    return rowCount === 1;
  }

  /** The session may be cut for all replicas at once: the server shows the loss of others first, perhaps. */
  private async seenTwice(look: (among?: readonly string[]) => Promise<string[]>): Promise<string[]> {
    if (this.reconnecting) return [];
    const suspects = await look();
    if (suspects.length === 0) return [];
    await delay(CONFIRM_MS);
    const confirmed = new Set(await look(suspects));
    return this.reconnecting ? [] : suspects.filter((id) => confirmed.has(id));
  }

  private async join(): Promise<void> {
    const session = this.database.session('replica');
    try {
      await session.connect();
      await this.announce(session);
    } catch (error) {
      await session.end().catch(() => undefined);
      throw error;
    }
    session.once('end', () => this.rejoin(session));
    this.session = session;
  }

  private async announce(session: pg.Client): Promise<void> {
    const lockKey = BigInt.asUintN(63, randomBytes(8).readBigUInt64BE()).toString();
    await session.query(SESSION_SETTINGS);
    await session.query('SELECT pg_advisory_lock($1)', [lockKey]);
    await this.lockEarlierKeys(session);
    this.lockKeys = [lockKey, ...this.lockKeys.slice(-KEPT_KEYS)];
    await this.heartbeat(session);
    this.lockKeys = [lockKey];
    this.hasJoined = true;
  }

  /**
   * Locks the earlier keys as well. A lost session keeps them while its own last heartbeat commits: whoever did not wait for
   * them would seem dead from the end of that commit to the end of the next one. Where nothing tells the server that a
   * session is lost, it keeps the locks for ten seconds: the next heartbeat must not wait as long. A session that is
   * replaced still lives, and ends later.
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

  /** A new session takes a new key, since the server may not have noticed yet that the old session is gone. */
  private rejoin(lost: pg.Client): void {
    if (this.ended || this.session !== lost) return;
    this.session = undefined;
    this.reconnecting ??= this.joinUntilDone().finally(() => (this.reconnecting = undefined));
  }

  /**
   * The session's server only reads: another one may have taken its place. Until there is a session that may write this
   * one is kept, with its lock: where it is the same server after all, this replica never seems dead.
   */
  private replace(old: pg.Client): void {
    // A server that stands still keeps the end of the old session for long: nobody waits for it.
    this.reconnecting ??= this.joinUntilDone(true)
      .then(() => void old.end().catch(() => undefined))
      .finally(() => (this.reconnecting = undefined));
  }

  /** @param readOnly whether the server only read a moment ago: then its other sessions are replaced as well */
  private async joinUntilDone(readOnly = false): Promise<void> {
    let renew = readOnly;
    while (!this.ended) {
      try {
        await this.join();
        if (renew) this.database.renewSessions();
        return;
      } catch (error) {
        renew ||= isReadOnly(error);
        // Whoever ends this replica waits for it, and the process may have nothing else left to do.
        await delay(RECONNECT_MS);
      }
    }
  }

  /** One thing at a time on the session. */
  private async speak(): Promise<void> {
    const { session } = this;
    if (!session || this.speaking) return;
    this.speaking = true;
    try {
      if (performance.now() - this.spokeAt >= HEARTBEAT_MS) await this.heartbeat(session);
      else if (this.peerLocks.length > 0) await this.look(session);
    } catch (error) {
      // Where the session broke, its `end` brings the next one.
      if (isReadOnly(error)) this.replace(session);
    } finally {
      this.speaking = false;
    }
  }

  private async heartbeat(session: pg.Client): Promise<void> {
    const [spokeAt, askedAt] = [performance.now(), Date.now()];
    const values = [this.replicaId, this.lockKeys[0], !this.hasJoined];
    const { rows } = await session.query<Spoken>(HEARTBEAT, values);
    this.spokeAt = spokeAt;
    const { now, peers } = rows[0]!;
    this.database.learnTime(now, askedAt);
    this.peerLocks = peers;
    this.others = peers.length;
  }

  private async look(session: pg.Client): Promise<void> {
    const { rows } = await session.query<{ key: string }>({ name: 'lost', text: LOST, values: [this.peerLocks] });
    if (rows.length === 0) return;
    // Told once: whoever looks has all the time that it takes.
    this.peerLocks = this.peerLocks.filter((lock) => rows.every(({ key }) => key !== lock));
    this.lossHandler();
  }

  private async ids(text: string, values: unknown[]): Promise<string[]> {
    const { rows } = await this.database.pool.query<{ id: string }>(text, values);
    return rows.map(({ id }) => id);
  }
}

const TRY_LOCKS = 'SELECT key::text, pg_try_advisory_lock(key) AS held FROM unnest($1::bigint[]) AS own (key)';
const WAIT_FOR_LOCKS = 'SELECT pg_advisory_lock(key) FROM unnest($1::bigint[]) AS own (key)';
const LOCK_NOT_AVAILABLE = '55P03';

/** The answer to a heartbeat: the locks of the others that spoke lately, and the database's time. */
interface Spoken {
  peers: string[];
  now: Date;
}

/**
 * To wait for the locks instead would keep a snapshot for as long as all live, and with it every dead row. What is held
 * for the moment of the look is no sign of life: that is an exclusive lock.
 */
const LOST = `
  SELECT key::text FROM unnest($1::bigint[]) AS peer (key)
  WHERE pg_try_advisory_lock_shared(key) AND pg_advisory_unlock_shared(key)`;
