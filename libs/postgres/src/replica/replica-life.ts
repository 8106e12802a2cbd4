import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type pg from 'pg';
import { Database } from '../database/database.js';
import { isReadOnly } from '../database/outage.js';
import { SESSION_SETTINGS } from '../database/session-settings.js';

/**
 * Says in a replica's row what the replica expects of the others. Absent: versions before that; while one of them is there,
 * journals tell it the positions of their commits in `task_writer`.
 */
const REPLICA_GENERATION = 1;
const HEARTBEAT_MS = 2_000;
/** How often a replica tries the locks of the others: a lock that is free is a session that was lost. */
const LOOK_MS = 100;
const RECONNECT_MS = 100;
/** A lock must be missing twice, this far apart: its holder may be reconnecting, at the second try perhaps. */
const CONFIRM_MS = 200;
/** A replica that has not said anything for so long is frozen: its lock no longer counts. */
const FROZEN_SECONDS = 10;
/** A server that has just started has lost everybody's locks and heard nobody's heartbeat: replicas get this long. */
const SERVER_START_SECONDS = 3;

/**
 * This process as others see it. A replica lives while its own session holds its advisory lock (PostgreSQL releases
 * it the moment the process dies) and while its heartbeat is not older than ten seconds (a frozen process keeps its
 * lock). Whoever takes over a replica's work must fence it: a frozen replica may wake up.
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
  private spokeAt = 0;
  private speaking = false;
  private rejoinedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly database: Database) {}

  /** How many other replicas seem to live, as of the last heartbeat: up to two seconds old. */
  get peers(): number {
    return this.others;
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
   * The ids of replicas that have died or are frozen, never this one. Takes 200 ms longer when there are any. None while
   * this one cannot show that it lives, and for three seconds after: what took its session may have taken theirs as well.
   */
  async deadReplicas(): Promise<string[]> {
    if (this.cannotJudge) return [];
    const suspects = await this.replicasWithoutLife();
    if (suspects.length === 0) return [];
    await delay(CONFIRM_MS);
    const confirmed = new Set(await this.replicasWithoutLife());
    return this.cannotJudge ? [] : suspects.filter((id) => confirmed.has(id));
  }

  /** Has somebody look for dead replicas, within a tenth of a second, whenever another one's session was lost. */
  onLoss(look: () => void): void {
    this.lossHandler = look;
  }

  /** Which of these ids no replica has, living or dead: what they claim belongs to nobody. */
  async unknownReplicas(ids: readonly string[]): Promise<string[]> {
    const { rows } = await this.database.pool.query<{ id: string }>(
      'SELECT id FROM unnest($1::text[]) AS claimant (id) WHERE NOT EXISTS (SELECT FROM replica r WHERE r.id = claimant.id)',
      [ids],
    );
    return rows.map(({ id }) => id);
  }

  /**
   * Has the successor replica take over from every dead one before that is forgotten; where that fails, the replica is
   * not forgotten yet.
   */
  onForget(takeOver: (replicaId: string) => Promise<void>): void {
    this.successors.push(takeOver);
  }

  /** Removes what is left of a dead replica, once its work has been taken over. */
  async forget(replicaId: string): Promise<void> {
    for (const takeOver of this.successors) await takeOver(replicaId);
    await this.database.pool.query('DELETE FROM replica WHERE id = $1', [replicaId]);
  }

  private get cannotJudge(): boolean {
    return this.reconnecting !== undefined || performance.now() - this.rejoinedAt < SERVER_START_SECONDS * 1000;
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
    await session.query(`${SESSION_SETTINGS}; ${KEEPALIVE}`);
    await session.query('SELECT pg_advisory_lock($1)', [lockKey]);
    const askedAt = Date.now();
    const { rows } = await session.query<Spoken>(
      `INSERT INTO replica (id, lock_key, generation) VALUES ($1, $2, ${REPLICA_GENERATION})
       ON CONFLICT (id) DO UPDATE SET lock_key = excluded.lock_key, heartbeat_at = now() RETURNING ${PEERS}`,
      [this.replicaId, lockKey],
    );
    this.remember(rows[0], askedAt);
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
    this.reconnecting ??= this.joinUntilDone(true)
      .then(() => old.end().catch(() => undefined))
      .finally(() => (this.reconnecting = undefined));
  }

  /** @param readOnly whether the server only read a moment ago: then its other sessions are replaced as well */
  private async joinUntilDone(readOnly = false): Promise<void> {
    let renew = readOnly;
    while (!this.ended) {
      try {
        await this.join();
        this.rejoinedAt = performance.now();
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
    const askedAt = Date.now();
    const { rows } = await session.query<Spoken>(
      `UPDATE replica SET heartbeat_at = now() WHERE id = $1 RETURNING ${PEERS}`,
      [this.replicaId],
    );
    if (rows[0]) this.remember(rows[0], askedAt);
    else await session.end();
  }

  private remember(own: Spoken | undefined, askedAt: number): void {
    this.spokeAt = performance.now();
    if (own) this.database.learnTime(own.now, askedAt);
    this.peerLocks = own?.peers ?? [];
    this.others = this.peerLocks.length;
  }

  private async look(session: pg.Client): Promise<void> {
    const { rows } = await session.query<{ key: string }>({ name: 'lost', text: LOST, values: [this.peerLocks] });
    if (rows.length === 0) return;
    // Told once: whoever looks has all the time that it takes.
    this.peerLocks = this.peerLocks.filter((lock) => rows.every(({ key }) => key !== lock));
    this.lossHandler();
  }

  private async replicasWithoutLife(): Promise<string[]> {
    const { rows } = await this.database.pool.query<{ id: string }>(DEAD_REPLICAS, [this.replicaId]);
    return rows.map(({ id }) => id);
  }
}

/** A dead host sends no FIN: the server finds out after about ten seconds. */
const KEEPALIVE = 'SET tcp_keepalives_idle = 4; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3';

/** What comes back: the locks of the others, and the database's time. */
interface Spoken {
  peers: string[];
  now: Date;
}

/** Those that spoke lately; a look at their locks would cost more than it tells. */
const PEERS = `ARRAY(
  SELECT other.lock_key::text FROM replica other
  WHERE other.id <> $1 AND other.heartbeat_at > now() - interval '${FROZEN_SECONDS} seconds') AS peers,
  clock_timestamp() AS now`;

/**
 * To wait for the locks instead would keep a snapshot for as long as all live, and with it every dead row. What is held
 * for the moment of the look is no sign of life: that is an exclusive lock.
 */
const LOST = `
  SELECT key::text FROM unnest($1::bigint[]) AS peer (key)
  WHERE pg_try_advisory_lock_shared(key) AND pg_advisory_unlock_shared(key)`;

/** pg_locks shows a bigint advisory lock as two 32-bit halves with objsubid 1. */
const DEAD_REPLICAS = `
  SELECT r.id FROM replica r
  WHERE r.id <> $1 AND pg_postmaster_start_time() < now() - interval '${SERVER_START_SECONDS} seconds' AND (
    r.heartbeat_at < now() - interval '${FROZEN_SECONDS} seconds'
    OR NOT EXISTS (
      SELECT FROM pg_locks l
      WHERE l.locktype = 'advisory' AND l.granted AND l.mode = 'ExclusiveLock' AND l.objsubid = 1
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND l.classid = (r.lock_key >> 32)::oid AND l.objid = (r.lock_key & 4294967295)::oid))`;
