import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type { ClientBase, Pool, PoolClient } from 'pg';
import { Database, inTransaction, livenessCheckBy, ReplicaLife } from '#libs/postgres';
import type { PlaceUser } from './push-places.js';
import type { KeptSecrets } from './push-secrets.js';
import { RECEIVER_BACKOFF } from './retry-plan.js';

/** Push config with the data for its next notification. */
export interface DueConfig extends KeptSecrets {
  pushId: string;
  /** Fencing number that each new holder of the config increments; writes with an earlier number are refused. */
  turn: number;
  tenant: string;
  owner: string;
  url: string;
  scheme: string | null;
  wireVersion: string;
  /** Sequence number of the last event that the receiver accepted. */
  deliveredSequence: number;
  /** Number of failed attempts since the last accepted notification. */
  attempts: number;
}

/** Columns of a due config. */
export const DUE_CONFIG = `
  push_id AS "pushId", turn, task_id AS "taskId", config_id AS "configId", tenant, owner, url, scheme,
  secrets AS sealed, token, credentials,
  wire_version AS "wireVersion", delivered_sequence AS "deliveredSequence", attempts`;

/** Number of database sessions of this process for the queues of webhooks. */
const SESSIONS = 3;

/**
 * Database sessions for the queues of webhooks. They are separate from the sessions for Messages, so that lanes never
 * delay Messages. With DATABASE_POOL_URL all share one pool.
 */
@Injectable()
export class PushSessions {
  readonly pool: Pool;

  constructor(private readonly database: Database) {
    this.pool = database.readPool('push', SESSIONS, {});
  }

  /** Converts a time of this process's clock to the database's clock. */
  timeThere(at: Date): Date {
    return this.database.timeThere(at);
  }
}

/** Maximum number of callers per search for due queues. */
const CALLERS_AT_ONCE = 100;
/**
 * Maximum number of due queues that a search returns for one caller: this many whose receivers answered the last
 * attempt promptly, and this many others.
 */
const QUEUES_OF_A_CALLER = 4;
/** Maximum number of lanes of one receiver, over all replicas and callers: the concurrent attempts at it. */
const LANES = 2;

/** Queue of one caller for one receiver (the origin of its webhooks). */
export interface PushQueue {
  tenant: string;
  owner: string;
  receiver: string;
}

/** Due queue, and what is known of its receiver. */
export interface DueQueue extends PushQueue, PlaceUser {
  /** Number of attempts without an answer since the last answer. */
  failures: number;
}

/** Lane: the right of one replica to send the notifications of a queue to its receiver. */
export interface PushLane extends DueQueue {
  /** Number that distinguishes the lanes of one receiver, from 0. */
  number: number;
  /** Unique id of this process as the holder of the lane. */
  holder: string;
}

export type PushCaller = Pick<PushQueue, 'tenant' | 'owner'>;

export interface FoundQueues {
  queues: DueQueue[];
  /** Last caller that the search found. The next search continues after it. Absent if the search found none. */
  last?: PushCaller;
}

/**
 * Queues of webhooks: waiting deliveries cost nothing until a lane works on them.
 * - A receiver has at most two lanes, over all replicas and callers. A queue whose receiver gave no answer to the last
 *   attempt has one lane.
 * - A waiting config has a queue that is due or will be, or a lane working on its queue.
 * - A lane belongs to a replica: the work of a dead replica becomes due again as soon as its death is detected.
 * - No delivery is forgotten, because both sides lock the queue's row: a writer updates it after the write of its
 *   deliveries, and a lane that ends locks it before it looks for waiting deliveries a last time.
 */
@Injectable()
export class PushQueues {
  private readonly listeners: (() => void)[] = [];

  constructor(
    private readonly database: PushSessions,
    private readonly replica: ReplicaLife,
  ) {
    replica.onDeath((replicaId) => this.freeLanesOf(replicaId));
  }

  /** Calls the listener whenever this process made a queue due. */
  onDue(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Notifies this process's listeners (`onDue`) that queues are due. Call it after the commit of `makeDue`. */
  announceDue(): void {
    for (const listener of this.listeners) listener();
  }

  /**
   * Makes the queues of waiting configs due. The queue of a receiver that gave no answer stays paused.
   * @param client session of the transaction that made the configs wait
   */
  async makeDue(queues: readonly PushQueue[], client: Pick<ClientBase, 'query'>): Promise<void> {
    if (queues.length > 0) await client.query(MAKE_DUE, columnsOf(queues));
  }

  /**
   * Finds due queues of the callers after `after`, or from the first caller if it is absent. For each caller: at most
   * QUEUES_OF_A_CALLER whose receiver answered the last attempt promptly, and as many others.
   */
  async findDue(after?: PushCaller): Promise<FoundQueues> {
    const values: unknown[] = [CALLERS_AT_ONCE, QUEUES_OF_A_CALLER];
    if (after) values.push(after.tenant, after.owner);
    const { rows } = await this.database.pool.query<DueQueue | (PushCaller & { receiver: null })>({
      name: after ? 'push-due-after' : 'push-due',
      text: findDueStatement(after ? '(tenant, owner) > ($3, $4)' : 'true'),
      values,
    });
    const last = rows.at(-1);
    return { queues: rows.filter((row): row is DueQueue => row.receiver !== null), ...(last && { last }) };
  }

  /**
   * Makes the queues due now, even if they are paused because their receivers gave no answer. Called when the owner of
   * the webhooks has requested a delivery.
   */
  async makeDueNow(queues: readonly PushQueue[], client: Pick<ClientBase, 'query'>): Promise<void> {
    await this.makeDue(queues, client);
    await client.query(DUE_NOW, columnsOf(queues));
  }

  /**
   * Begins a lane for each of these queues that is still due and whose receiver has a free lane. Queues without a free
   * lane are due again a second later.
   */
  async openLanes(found: readonly PushQueue[]): Promise<PushLane[]> {
    return inTransaction(this.database, async (client) => {
      const due = await this.lockDue(client, found);
      const lanes: PushLane[] = [];
      for (let number = 0; number < LANES; number += 1) {
        const waiting = due.filter((queue) => !lanes.some((lane) => isSameQueue(lane, queue)));
        lanes.push(...(await this.claimLanes(client, waiting, number)));
      }
      const entered = lanes.map((lane) => [lane, lane.failures === 0] as const);
      const late = due.filter((queue) => !lanes.some((lane) => isSameQueue(lane, queue)));
      await client.query(ENTERED, [
        ...columnsOf(entered.map(([it]) => it)),
        entered.map(([, mayHaveTwo]) => mayHaveTwo),
      ]);
      await client.query(POSTPONED, columnsOf(late));
      return lanes;
    });
  }

  private async lockDue(client: PoolClient, found: readonly PushQueue[]): Promise<DueQueue[]> {
    return (await client.query<DueQueue>(LOCK_DUE, columnsOf(found))).rows;
  }

  private async claimLanes(client: PoolClient, queues: readonly DueQueue[], number: number): Promise<PushLane[]> {
    if (queues.length === 0) return [];
    const lanes = queues.map((queue) => ({ ...queue, number, holder: randomUUID() }));
    const { rows } = await client.query<{ holder: string }>(CLAIM_LANES, [
      ...columnsOf(lanes),
      lanes.map(({ holder }) => holder),
      number,
      this.replica.replicaId,
    ]);
    const claimed = new Set(rows.map(({ holder }) => holder));
    return lanes.filter(({ holder }) => claimed.has(holder));
  }

  /**
   * Takes the due config of the lane's queue that has waited longest. Returns `undefined` if no config is due, or the
   * lane was freed meanwhile.
   */
  async takeNextConfig({ tenant, owner, receiver, number, holder }: PushLane): Promise<DueConfig | undefined> {
    const { rows } = await this.database.pool.query<DueConfig>({
      name: 'push-next',
      text: NEXT,
      values: [tenant, owner, receiver, number, holder],
    });
    return rows[0];
  }

  /** Ends a lane, and reschedules its queue: after a pause (backoff) if its receiver gave no answer. */
  async endLane(lane: PushLane): Promise<void> {
    const { tenant, owner, receiver, failures, answered, holder } = lane;
    const pause = failures > 0 ? RECEIVER_BACKOFF.pauseAfter(failures - 1) : 0;
    await inTransaction(this.database, async (client) => {
      await client.query(LOCK, [tenant, owner, receiver]);
      await client.query(RELEASE, [receiver, holder]);
      await client.query(LEAVE, [tenant, owner, receiver, failures, answered, pause]);
    });
  }

  /** Frees all lanes of this replica when it shuts down, and makes their queues due. */
  async freeOwnLanes(): Promise<void> {
    await this.database.pool.query(freeLanes('replica_id = $1'), [this.replica.replicaId]);
  }

  /**
   * Frees lost lanes, and makes their queues due: the lanes of gone replicas, and lanes of this replica that are older
   * than half a minute and have no work, because the answer to the commit that began them was lost.
   * @param held holders of the lanes that this process works on
   */
  async freeLostLanes(held: readonly string[]): Promise<void> {
    await this.database.pool.query(freeLanes(LOST), [this.replica.replicaId, held]);
  }

  /**
   * Frees the lanes of a replica that was reported dead, and makes their queues due. The statement checks again that
   * the replica is dead, and changes nothing if it is alive.
   */
  private async freeLanesOf(replicaId: string): Promise<void> {
    await this.database.pool.query(FREE_DEAD, [this.replica.replicaId, replicaId]);
    this.announceDue();
  }

  /**
   * Ends a lane that a job of an earlier version holds, and makes the queues of its receiver due, so that lanes of this
   * version send the waiting deliveries.
   * @param holder unique id of the lane, from the payload of the job
   */
  async takeOverLane(receiver: string, holder: string): Promise<void> {
    await this.database.pool.query(TAKE_OVER_LANE, [receiver, holder]);
    await this.database.pool.query('SELECT push_make_due($1)', [receiver]);
    this.announceDue();
  }
}

function columnsOf(queues: readonly PushQueue[]): [string[], string[], string[]] {
  return [queues.map(({ tenant }) => tenant), queues.map(({ owner }) => owner), queues.map((it) => it.receiver)];
}

function isSameQueue(left: PushQueue, right: PushQueue): boolean {
  return left.tenant === right.tenant && left.owner === right.owner && left.receiver === right.receiver;
}

const QUEUES = 'unnest($1::text[], $2::text[], $3::text[])';
/** SQL order in which statements lock several queues, so that they do not deadlock. */
const IN_ORDER = 'ORDER BY tenant, owner, receiver';

const MAKE_DUE = `
  INSERT INTO push_queue AS held (tenant, owner, receiver, due_at)
  SELECT DISTINCT tenant, owner, receiver, now() FROM ${QUEUES} AS called (tenant, owner, receiver) ${IN_ORDER}
  ON CONFLICT (tenant, owner, receiver) DO UPDATE SET updated_at = now(), due_at = CASE
    WHEN held.failures = 0 THEN now()
    ELSE coalesce(held.due_at, now() + interval '1 second') END`;

const DUE_NOW = `
  UPDATE push_queue SET due_at = now() WHERE (tenant, owner, receiver) IN (SELECT * FROM ${QUEUES})`;

/**
 * Returns the statement that finds due queues. It finds each caller by one index lookup, however many queues the caller
 * has.
 * @param from SQL condition on the first caller
 */
const findDueStatement = (from: string): string => `
  WITH RECURSIVE caller AS (
    (SELECT tenant, owner FROM push_queue WHERE due_at IS NOT NULL AND ${from} ORDER BY tenant, owner LIMIT 1)
    UNION ALL
    SELECT later.tenant, later.owner FROM caller, LATERAL (
      SELECT tenant, owner FROM push_queue
      WHERE due_at IS NOT NULL AND (push_queue.tenant, push_queue.owner) > (caller.tenant, caller.owner)
      ORDER BY tenant, owner LIMIT 1) AS later
  )
  SELECT next.tenant, next.owner, due.receiver, due.answered, due.failures
  FROM (SELECT tenant, owner FROM caller LIMIT $1) AS next
  CROSS JOIN (VALUES (true), (false)) AS proven (answered)
  LEFT JOIN LATERAL (
    SELECT * FROM push_queue
    WHERE push_queue.tenant = next.tenant AND push_queue.owner = next.owner
      AND push_queue.answered = proven.answered AND due_at <= now()
    ORDER BY due_at LIMIT $2) AS due ON true
  ORDER BY next.tenant, next.owner, due.answered DESC, due.due_at`;

const LOCK_DUE = `
  SELECT tenant, owner, receiver, answered, failures FROM push_queue
  WHERE (tenant, owner, receiver) IN (SELECT * FROM ${QUEUES}) AND due_at <= now()
  ${IN_ORDER} FOR UPDATE SKIP LOCKED`;

const CLAIM_LANES = `
  INSERT INTO push_lane (receiver, lane, holder, tenant, owner, replica_id)
  SELECT receiver, $5::smallint, holder, tenant, owner, $6
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS claimed (tenant, owner, receiver, holder)
  ORDER BY receiver
  ON CONFLICT (receiver, lane) DO NOTHING RETURNING holder`;

/**
 * Reschedules the queues for which a lane has just begun. A second lane may begin when another config is due, unless
 * the receiver gave no answer.
 */
const ENTERED = `
  UPDATE push_queue SET updated_at = now(), due_at = least((
    SELECT due_at FROM push_config
    WHERE entered.two AND push_config.tenant = entered.tenant AND push_config.owner = entered.owner
      AND push_config.receiver = entered.receiver AND scheduled AND lane IS NULL
    ORDER BY due_at OFFSET 1 LIMIT 1), (
    SELECT now() FROM push_repeat
    WHERE entered.two AND push_repeat.tenant = entered.tenant AND push_repeat.owner = entered.owner
      AND push_repeat.receiver = entered.receiver AND holder IS NULL
    OFFSET 1 LIMIT 1))
  FROM unnest($1::text[], $2::text[], $3::text[], $4::boolean[]) AS entered (tenant, owner, receiver, two)
  WHERE (push_queue.tenant, push_queue.owner, push_queue.receiver) = (entered.tenant, entered.owner, entered.receiver)`;

const POSTPONED = `
  UPDATE push_queue SET due_at = now() + interval '1 second', updated_at = now()
  WHERE (tenant, owner, receiver) IN (SELECT * FROM ${QUEUES})`;

/**
 * Takes the next due config for a lane, if the lane still exists (`freeLostLanes` may have freed it). Configs in locked
 * rows are skipped: their queue is due again as soon as the lock is released.
 */
const NEXT = `
  UPDATE push_config SET lane = $4, turn = turn + 1, updated_at = now()
  WHERE EXISTS (SELECT FROM push_lane WHERE receiver = $3 AND push_lane.lane = $4 AND holder = $5) AND push_id = (
    SELECT push_id FROM push_config
    WHERE tenant = $1 AND owner = $2 AND receiver = $3 AND scheduled AND lane IS NULL AND due_at <= now()
    ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING ${DUE_CONFIG}`;

const LOCK = 'SELECT FROM push_queue WHERE (tenant, owner, receiver) = ($1, $2, $3) FOR UPDATE';

/**
 * Deletes a lane. Configs and repeats that the lane still holds, because an internal error prevented sending them, wait
 * for another lane again.
 */
const RELEASE = `
  WITH gone AS (DELETE FROM push_lane WHERE receiver = $1 AND holder = $2 RETURNING lane, holder),
  repeats AS (UPDATE push_repeat SET holder = NULL FROM gone WHERE push_repeat.holder = gone.holder)
  UPDATE push_config SET lane = NULL, turn = turn + 1, updated_at = now()
  FROM gone WHERE receiver = $1 AND push_config.lane = gone.lane`;

/**
 * Reschedules a queue. A separate statement locks the queue before, so that this statement also sees the configs that
 * other transactions added while they held the lock.
 */
const LEAVE = `
  UPDATE push_queue SET failures = $4, answered = $5, updated_at = now(), due_at = (
    SELECT greatest(min(due_at), now() + $6::int * interval '1 millisecond') FROM (
      (SELECT due_at FROM push_config
       WHERE (tenant, owner, receiver) = ($1, $2, $3) AND scheduled AND lane IS NULL ORDER BY due_at LIMIT 1)
      UNION ALL
      (SELECT now() FROM push_repeat WHERE (tenant, owner, receiver) = ($1, $2, $3) AND holder IS NULL LIMIT 1)) AS waiting
    HAVING count(*) > 0)
  WHERE (tenant, owner, receiver) = ($1, $2, $3)`;

const freeLanes = (which: string, before = ''): string => `
  WITH ${before} gone AS (DELETE FROM push_lane WHERE ${which} RETURNING receiver, lane, holder, tenant, owner),
  configs AS (
    UPDATE push_config SET lane = NULL, turn = turn + 1, updated_at = now()
    FROM gone WHERE push_config.receiver = gone.receiver AND push_config.lane = gone.lane),
  repeats AS (UPDATE push_repeat SET holder = NULL FROM gone WHERE push_repeat.holder = gone.holder)
  UPDATE push_queue SET due_at = now(), updated_at = now() FROM gone
  WHERE (push_queue.tenant, push_queue.owner, push_queue.receiver) = (gone.tenant, gone.owner, gone.receiver)`;

const LIVENESS = livenessCheckBy('$1');

const FREE_DEAD = freeLanes(`replica_id IN (${LIVENESS.selectGone('ARRAY[$2]')})`, `${LIVENESS.withs},`);

/**
 * Condition of the lanes that `freeLostLanes` frees. Lanes of an earlier version have no replica, since they belong to
 * a job, and are left alone.
 */
const LOST = `replica_id IS NOT NULL AND (
  NOT EXISTS (SELECT FROM replica WHERE replica.id = replica_id)
  OR replica_id = $1 AND holder <> ALL ($2::text[]) AND updated_at < now() - interval '30 seconds')`;

const TAKE_OVER_LANE = `
  WITH gone AS (DELETE FROM push_lane WHERE receiver = $1 AND holder = $2 AND replica_id IS NULL RETURNING lane)
  UPDATE push_config SET lane = NULL, turn = turn + 1, updated_at = now()
  FROM gone WHERE receiver = $1 AND push_config.lane = gone.lane`;
