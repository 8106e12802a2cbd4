import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { inTransaction, ReplicaLife, livenessCheckBy } from '#libs/postgres';
import type { ClientBase, PoolClient } from 'pg';
import { DUE_CONFIG, type DueConfig } from './due-config.js';
import type { PlaceUser } from './push-places.js';
import { backOffAfter } from './retry-plan.js';
import { PushSessions } from './push-sessions.js';

/** Callers that one look comes to, and queues of each whose receiver answered the last attempt; as many others. */
const CALLERS_AT_ONCE = 100;
const QUEUES_OF_A_CALLER = 4;
/** Lanes of one receiver, over all replicas and callers: so many attempts at it are under way at once. */
const LANES = 2;

/** Queue of one caller for one receiver (the origin of its webhooks). */
export interface PushQueue {
  tenant: string;
  owner: string;
  receiver: string;
}

/** A queue whose time has come, and what is known of its receiver. */
export interface DueQueue extends PushQueue, PlaceUser {
  /** Attempts without an answer since the last one with an answer. */
  failures: number;
}

/** A lane of a receiver at work on a queue. */
export interface PushLane extends DueQueue {
  number: number;
  /** Its name, which no other lane ever has. */
  holder: string;
}

export type PushCaller = Pick<PushQueue, 'tenant' | 'owner'>;

export interface FoundQueues {
  queues: DueQueue[];
  /** The last caller that was looked at; absent where there was none. */
  last?: PushCaller;
}

/**
 * The queues of webhooks: what waits for a receiver costs nothing until a lane works it off.
 * - A receiver has at most two lanes, over all replicas and callers; a queue whose receiver gave no answer has one.
 * - A config that waits has a queue that is due, or will be, or a lane at work on its queue.
 * - A lane belongs to a replica: what a dead one had in hand is due again as soon as that is found dead.
 * All of it rests on the row of the queue: whoever makes something wait updates it afterwards, and whoever finds nothing
 * left locks it first.
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

  /** Tells this process's listeners to look for due queues. To be called after the commit of `makeDue`. */
  announceDue(): void {
    for (const listener of this.listeners) listener();
  }

  /**
   * Has lanes look at the queues of configs that were made to wait, in the transaction that did; a receiver that gave no
   * answer keeps its pause.
   */
  async makeDue(queues: readonly PushQueue[], client: Pick<ClientBase, 'query'>): Promise<void> {
    if (queues.length > 0) await client.query(MAKE_DUE, columnsOf(queues));
  }

  /** Looks for due queues of the next callers: at most a few of each, those whose receiver answered and others. */
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

  /** The same at once, whatever the receiver did: somebody asked for it. */
  async makeDueNow(queues: readonly PushQueue[], client: Pick<ClientBase, 'query'>): Promise<void> {
    await this.makeDue(queues, client);
    await client.query(DUE_NOW, columnsOf(queues));
  }

  /**
   * Begins a lane for each of these queues that is still due and whose receiver has one free. One without is looked at
   * again a second later.
   */
  async enter(found: readonly PushQueue[]): Promise<PushLane[]> {
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

  /** Takes the config in hand that has waited longest; `undefined` where none is due. */
  async next({ tenant, owner, receiver, number, holder }: PushLane): Promise<DueConfig | undefined> {
    const { rows } = await this.database.pool.query<DueConfig>({
      name: 'push-next',
      text: NEXT,
      values: [tenant, owner, receiver, number, holder],
    });
    return rows[0];
  }

  /** Ends a lane, and says when its queue is due again: after a pause where its receiver gave no answer. */
  async leave(lane: PushLane): Promise<void> {
    const { tenant, owner, receiver, failures, answered, holder } = lane;
    const pause = failures > 0 ? backOffAfter(failures) : 0;
    await inTransaction(this.database, async (client) => {
      await client.query(LOCK, [tenant, owner, receiver]);
      await client.query(RELEASE, [receiver, holder]);
      await client.query(LEAVE, [tenant, owner, receiver, failures, answered, pause]);
    });
  }

  /** Frees the lanes of this replica, as it ends, and makes their queues due. */
  async freeOwnLanes(): Promise<void> {
    await this.database.pool.query(freeLanes('replica_id = $1'), [this.replica.replicaId]);
  }

  /**
   * Frees the lanes of replicas that are gone, and those that this replica began half a minute ago and does not work at,
   * since the answer to their commit was lost. Makes their queues due.
   * @param held the holders of the lanes at work here
   */
  async freeLostLanes(held: readonly string[]): Promise<void> {
    await this.database.pool.query(freeLanes(LOST), [this.replica.replicaId, held]);
  }

  /** Does nothing where the replica lives at that moment. */
  private async freeLanesOf(replicaId: string): Promise<void> {
    await this.database.pool.query(FREE_DEAD, [this.replica.replicaId, replicaId]);
    this.announceDue();
  }

  /** Hands the lane of a job of an earlier version, and all that waits for its receiver, to the queues. */
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
/** Whoever locks several queues does so in this order. */
const IN_ORDER = 'ORDER BY tenant, owner, receiver';

const MAKE_DUE = `
  INSERT INTO push_queue AS held (tenant, owner, receiver, due_at)
  SELECT DISTINCT tenant, owner, receiver, now() FROM ${QUEUES} AS called (tenant, owner, receiver) ${IN_ORDER}
  ON CONFLICT (tenant, owner, receiver) DO UPDATE SET updated_at = now(), due_at = CASE
    WHEN held.failures = 0 THEN now()
    ELSE coalesce(held.due_at, now() + interval '1 second') END`;

const DUE_NOW = `
  UPDATE push_queue SET due_at = now() WHERE (tenant, owner, receiver) IN (SELECT * FROM ${QUEUES})`;

/** Finds the next callers by the index, one look for each, however many queues each of them has. */
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

/** A second lane may come where another config is due by then; not to a receiver that gave no answer. */
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
 * Only for a lane that was not freed since. What is being changed at this moment is passed over: the queue is due again
 * as soon as that is done.
 */
const NEXT = `
  UPDATE push_config SET lane = $4, turn = turn + 1, updated_at = now()
  WHERE EXISTS (SELECT FROM push_lane WHERE receiver = $3 AND push_lane.lane = $4 AND holder = $5) AND push_id = (
    SELECT push_id FROM push_config
    WHERE tenant = $1 AND owner = $2 AND receiver = $3 AND scheduled AND lane IS NULL AND due_at <= now()
    ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING ${DUE_CONFIG}`;

const LOCK = 'SELECT FROM push_queue WHERE (tenant, owner, receiver) = ($1, $2, $3) FOR UPDATE';

/** What it still has in hand was not sent by a fault of ours. */
const RELEASE = `
  WITH gone AS (DELETE FROM push_lane WHERE receiver = $1 AND holder = $2 RETURNING lane, holder),
  repeats AS (UPDATE push_repeat SET holder = NULL FROM gone WHERE push_repeat.holder = gone.holder)
  UPDATE push_config SET lane = NULL, turn = turn + 1, updated_at = now()
  FROM gone WHERE receiver = $1 AND push_config.lane = gone.lane`;

/** A statement of its own, after the lock: it sees what was made to wait by whoever had the queue before. */
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

const FREE_DEAD = freeLanes(`replica_id IN (${LIVENESS.gone('ARRAY[$2]')})`, `${LIVENESS.withs},`);

/** Lanes of an earlier version belong to no replica, but to a job. */
const LOST = `replica_id IS NOT NULL AND (
  NOT EXISTS (SELECT FROM replica WHERE replica.id = replica_id)
  OR replica_id = $1 AND holder <> ALL ($2::text[]) AND updated_at < now() - interval '30 seconds')`;

const TAKE_OVER_LANE = `
  WITH gone AS (DELETE FROM push_lane WHERE receiver = $1 AND holder = $2 AND replica_id IS NULL RETURNING lane)
  UPDATE push_config SET lane = NULL, turn = turn + 1, updated_at = now()
  FROM gone WHERE receiver = $1 AND push_config.lane = gone.lane`;
