import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { ProblemEntry } from '#libs/http-server';
import { BatchLoader, Database } from '#libs/postgres';
import { A2AError } from '#libs/protocol';
import { ENDED_TASK, TASK_OUTCOME } from '#libs/tasks';
import type { TriggerEvent } from '../delivery/received-event.js';
import {
  type AddedDelivery,
  type DecidedDelivery,
  type DeliveryCause,
  DeliveryWriter,
  keyOf,
  type NewDelivery,
} from './delivery-writer.js';

/** Maximum number of deliveries that one query reads about. */
const MOST_TOGETHER = 64;
/** Maximum number of accepted deliveries whose runs have not ended: of a trigger, and of a tenant. */
const MOST_OPEN = { trigger: 1_000, tenant: 5_000 } as const;
/** Seconds until a sender that was refused may try again. */
const RETRY_AFTER_S = '5';
/** Minimum milliseconds between two looks of this process for ended runs of a tenant that has too many open ones. */
const CLOSE_EVERY_MS = 1_000;

/** State of a delivery: of its acceptance, or of its run once that has begun. */
export const DELIVERY_STATES = [
  ...['starting', 'running', 'completed', 'failed', 'canceled', 'ended', 'filtered', 'rejected', 'skipped'],
] as const;
export type DeliveryState =
  | 'starting'
  | 'running'
  | 'completed'
  | 'failed'
  | 'canceled'
  | 'ended'
  | 'filtered'
  | 'rejected'
  | 'skipped';

/** Delivery of a trigger, and what came of it. */
export interface TriggerDelivery {
  /** Position in the history of the trigger; later deliveries have larger numbers. */
  number: string;
  /** Id of the delivery; its sender repeats it with each attempt. */
  deliveryId: string;
  cause: DeliveryCause;
  state: DeliveryState;
  /** Id of the run; absent if none was started. */
  runId?: string;
  /** Sentence why no run was started. */
  reason?: string;
  /** Members of the trigger at fault. */
  errors?: ProblemEntry[];
  /** True if the content is still kept, so that the delivery can be sent again. */
  replayable: boolean;
  receivedAt: Date;
}

/** Writes, reads and removes deliveries of triggers. */
@Injectable()
export class TriggerDeliveries {
  /** Looks of this process for the ended runs of tenants within CLOSE_EVERY_MS. */
  private readonly looks = new LRUCache<string, Promise<unknown>>({ max: 1_000, ttl: CLOSE_EVERY_MS });

  private readonly writer: DeliveryWriter;
  // Deliveries that arrive together share their reads.
  private readonly decided = new BatchLoader<string, DecidedDelivery>((keys) => this.readDecided(keys), MOST_TOGETHER);
  private readonly room = new BatchLoader<string, boolean>((keys) => this.readRoom(keys), MOST_TOGETHER);

  constructor(private readonly database: Database) {
    this.writer = new DeliveryWriter(database);
  }

  /**
   * Returns the decision about a delivery that came before; `undefined` for a new one. A delivery that was rejected
   * counts as new: the trigger may have been corrected.
   */
  async findDecided(triggerId: string, deliveryId: string): Promise<DecidedDelivery | undefined> {
    const decided = await this.decided.get(keyOf({ triggerId, deliveryId }));
    return decided?.state === 'rejected' ? undefined : decided;
  }

  /** Refuses a delivery while too many are open. @throws A2AError RATE_LIMITED */
  async requireRoom(triggerId: string, tenant: string): Promise<void> {
    if (await this.hasRoom(triggerId, tenant)) return;
    await this.closeEnded(tenant);
    if (await this.hasRoom(triggerId, tenant)) return;
    throw new A2AError('RATE_LIMITED', {
      message: 'Too many deliveries wait for the ends of their runs; try again later',
      metadata: { limit: 'deliveries', retryAfterSeconds: RETRY_AFTER_S },
      detailReason: 'RATE_LIMITED',
    });
  }

  /**
   * Writes a delivery and, if it starts a run, the job that does so, in one statement. Deliveries that arrive together
   * share a statement: the commits of statements that enqueue jobs wait for each other, as each sends a notification.
   * @returns the decision: that of another delivery with the same id if one was accepted in the meantime
   * @throws ProblemError 404 if the trigger has been deleted
   */
  async addDelivery(delivery: NewDelivery): Promise<DecidedDelivery> {
    const added = await this.writer.writeDelivery(delivery);
    if (added) return added;
    const decided = await this.findDecided(delivery.triggerId, delivery.deliveryId);
    return decided ?? this.addDelivery(delivery);
  }

  /**
   * Returns at most `limit` deliveries before the delivery `before`, newest first; from the newest on without `before`.
   */
  async listDeliveries(triggerId: string, limit: number, before?: string): Promise<TriggerDelivery[]> {
    const { rows } = await this.database.pool.query<TriggerDeliveryRow>(LIST, [triggerId, before ?? null, limit, null]);
    return rows.map(toDelivery);
  }

  /** Returns one delivery; `undefined` if it is not kept. */
  async findDelivery(triggerId: string, number: string): Promise<TriggerDelivery | undefined> {
    const { rows } = await this.database.pool.query<TriggerDeliveryRow>(LIST, [triggerId, null, 1, number]);
    return rows[0] && toDelivery(rows[0]);
  }

  /** Returns the kept content of a delivery; `undefined` if it is not kept. */
  async readEvent(triggerId: string, number: string): Promise<TriggerEvent | undefined> {
    const { rows } = await this.database.pool.query<{ event: TriggerEvent | null }>(EVENT, [triggerId, number]);
    return rows[0]?.event ?? undefined;
  }

  /** Closes the deliveries of a tenant whose runs have ended. Calls within CLOSE_EVERY_MS share one look for them. */
  private async closeEnded(tenant: string): Promise<void> {
    const look = this.looks.get(tenant) ?? this.database.pool.query(CLOSE_TENANT, [tenant]);
    this.looks.set(tenant, look, { noUpdateTTL: true });
    try {
      await look;
    } catch (error) {
      this.looks.delete(tenant);
      throw error;
    }
  }

  private async readDecided(keys: readonly string[]): Promise<Map<string, DecidedDelivery>> {
    const [triggers, deliveries] = [keys.map((key) => key.slice(0, UUID)), keys.map((key) => key.slice(UUID + 1))];
    const values = [triggers, deliveries];
    const { rows } = await this.database.pool.query<AddedDelivery>({ name: 'trigger-decided', text: DECIDED, values });
    return new Map(rows.map(({ key, ...decided }) => [key, decided]));
  }

  private async hasRoom(triggerId: string, tenant: string): Promise<boolean> {
    return (await this.room.get(`${triggerId}/${tenant}`)) === true;
  }

  private async readRoom(keys: readonly string[]): Promise<Map<string, boolean>> {
    const values = [keys.map((key) => key.slice(0, UUID)), keys.map((key) => key.slice(UUID + 1))];
    const { rows } = await this.database.pool.query<{ key: string; room: boolean }>({
      ...{ name: 'trigger-room', text: ROOM, values },
    });
    return new Map(rows.map(({ key, room }) => [key, room]));
  }
}

/** Number of characters of the id of a trigger. */
const UUID = 36;

interface TriggerDeliveryRow extends DecidedDelivery {
  delivery_key: string;
  cause: DeliveryCause;
  outcome: string | null;
  errors: ProblemEntry[] | null;
  has_event: boolean;
  received_at: Date;
  is_known: boolean;
}

function toDelivery(row: TriggerDeliveryRow): TriggerDelivery {
  const { number, delivery_key: deliveryId, cause, run_id: runId, reason, errors, received_at: receivedAt } = row;
  return {
    ...{ number, deliveryId, cause, state: stateOf(row) },
    ...(runId !== null && row.state !== 'failed' && { runId }),
    ...(reason !== null && { reason }),
    ...(errors !== null && { errors }),
    replayable: row.has_event,
    receivedAt,
  };
}

function stateOf({ state, outcome, is_known: isKnown }: TriggerDeliveryRow): DeliveryState {
  // A run can be seen, and even end, before its delivery is noted as started.
  if (state !== 'started' && !(state === 'starting' && isKnown)) return state;
  return (outcome ?? (isKnown ? 'running' : 'ended')) as DeliveryState;
}

const DECIDED = `
  SELECT number, state, run_id, reason, trigger_id || '/' || delivery_key AS key
  FROM trigger_delivery JOIN unnest($1::uuid[], $2::text[]) AS sought (trigger_id, delivery_key)
    USING (trigger_id, delivery_key)`;

const openOf = (condition: string, most: number): string =>
  `(SELECT count(*) FROM (SELECT FROM trigger_delivery AS delivery WHERE ${condition} AND is_open LIMIT ${most}) AS open)`;

const ROOM = `
  SELECT asked.id || '/' || asked.tenant AS key,
    ${openOf('delivery.trigger_id = asked.id', MOST_OPEN.trigger)} < ${MOST_OPEN.trigger}
    AND ${openOf('delivery.tenant = asked.tenant', MOST_OPEN.tenant)} < ${MOST_OPEN.tenant} AS room
  FROM unnest($1::uuid[], $2::text[]) AS asked (id, tenant)`;

// A run whose Task was purged has ended, with an outcome that is not known any more.
const CLOSE_TENANT = `
  WITH ended AS (
    SELECT delivery.number, ${TASK_OUTCOME} AS outcome
    FROM trigger_delivery AS delivery LEFT JOIN task ON task.task_id = delivery.run_id
    WHERE delivery.tenant = $1 AND delivery.is_open AND delivery.state = 'started'
      AND (task.task_id IS NULL OR ${ENDED_TASK})
    LIMIT 10000
  )
  UPDATE trigger_delivery AS delivery SET is_open = false, outcome = ended.outcome
  FROM ended WHERE delivery.number = ended.number AND delivery.is_open`;

const LIST = `
  SELECT delivery.number, delivery.delivery_key, delivery.cause, delivery.state, delivery.run_id, delivery.reason,
    delivery.errors, delivery.event IS NOT NULL AS has_event, delivery.received_at,
    coalesce(delivery.outcome, ${TASK_OUTCOME}) AS outcome, task.task_id IS NOT NULL AS is_known
  FROM trigger_delivery AS delivery
  LEFT JOIN task ON task.task_id = delivery.run_id AND delivery.state IN ('starting', 'started')
  WHERE delivery.trigger_id = $1 AND ($2::bigint IS NULL OR delivery.number < $2)
    AND ($4::bigint IS NULL OR delivery.number = $4)
  ORDER BY delivery.number DESC LIMIT $3`;

const EVENT = 'SELECT event FROM trigger_delivery WHERE trigger_id = $1 AND number = $2';
