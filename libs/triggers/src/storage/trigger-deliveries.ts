import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { type ProblemEntry, ProblemError } from '#libs/http-server';
import { callerFlag, enqueueForCallersFrom } from '#libs/jobs';
import { Database, sqlState } from '#libs/postgres';
import { A2AError, type JsonObject } from '#libs/protocol';
import { ENDED_TASK, newTaskId, TASK_OUTCOME, type TaskScope } from '#libs/tasks';
import type { TriggerEvent } from '../delivery/received-event.js';

/** Name of the job that starts the run of a delivery. */
export const START = 'triggers.start';
/** Number of attempts at the start of a run; each death of a replica counts as one. */
export const START_ATTEMPTS = 25;

/** Maximum number of accepted deliveries whose runs have not ended: of a trigger, and of a tenant. */
const MOST_OPEN = { trigger: 1_000, tenant: 5_000 } as const;
/** Number of the newest deliveries of a trigger that are kept whatever their age, with their content. */
const MOST_RECENT = 100;
/** Maximum bytes of content that are kept of the deliveries of a trigger. */
const MOST_KEPT_BYTES = 4 * 1024 ** 2;
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

/** Cause of a delivery: its sender, a caller that sent it again, or the end of a run. */
export type DeliveryCause = 'delivery' | 'replay' | 'run';

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

/** Delivery to write. `inputs` are those of its run; absent if no run is started. */
export interface NewDelivery {
  triggerId: string;
  scope: TaskScope;
  workflow: string;
  deliveryId: string;
  cause: DeliveryCause;
  state: 'starting' | 'filtered' | 'rejected' | 'skipped';
  inputs?: JsonObject;
  event?: TriggerEvent;
  reason?: string;
  errors?: readonly ProblemEntry[];
  depth?: number;
}

/** Delivery as it was first decided: the answer to each of its repetitions. */
export interface DecidedDelivery {
  number: string;
  state: 'starting' | 'started' | 'filtered' | 'rejected' | 'skipped' | 'failed';
  run_id: string | null;
  reason: string | null;
}

/** Writes, reads and removes deliveries of triggers. */
@Injectable()
export class TriggerDeliveries {
  /** Tenants whose ended runs this process has looked for within CLOSE_EVERY_MS. */
  private readonly closed = new LRUCache<string, true>({ max: 1_000, ttl: CLOSE_EVERY_MS });

  constructor(private readonly database: Database) {}

  /**
   * Returns the decision about a delivery that came before; `undefined` for a new one. A delivery that was rejected
   * counts as new: the trigger may have been corrected.
   */
  async findDecided(triggerId: string, deliveryId: string): Promise<DecidedDelivery | undefined> {
    const values = [triggerId, deliveryId];
    const { rows } = await this.database.pool.query<DecidedDelivery>({
      name: 'trigger-decided',
      text: DECIDED,
      values,
    });
    return rows[0]?.state === 'rejected' ? undefined : rows[0];
  }

  /** Refuses a delivery while too many are open. @throws A2AError RATE_LIMITED */
  async requireRoom(triggerId: string, tenant: string): Promise<void> {
    if (await this.hasRoom(triggerId, tenant)) return;
    if (!this.closed.has(tenant)) {
      this.closed.set(tenant, true);
      await this.database.pool.query(CLOSE_TENANT, [tenant]);
      if (await this.hasRoom(triggerId, tenant)) return;
    }
    throw new A2AError('RATE_LIMITED', {
      message: 'Too many deliveries wait for the ends of their runs; try again later',
      metadata: { limit: 'deliveries', retryAfterSeconds: RETRY_AFTER_S },
      detailReason: 'RATE_LIMITED',
    });
  }

  /**
   * Writes a delivery and, if it starts a run, the job that does so, in one statement.
   * @returns the decision: that of another delivery with the same id if one was accepted in the meantime
   * @throws ProblemError 404 if the trigger has been deleted
   */
  async addDelivery(delivery: NewDelivery): Promise<DecidedDelivery> {
    const { triggerId, scope, workflow, deliveryId, cause, state, inputs, event, reason, errors, depth } = delivery;
    const added = await this.insertDelivery([
      ...[triggerId, deliveryId, cause, state, scope.tenant, scope.owner, workflow],
      state === 'starting' ? newTaskId() : null,
      jsonOf(inputs),
      jsonOf(event),
      depth ?? 0,
      // A text of PostgreSQL has no NUL.
      reason?.replaceAll('\0', '\uFFFD') ?? null,
      errors && errors.length > 0 ? JSON.stringify(errors) : null,
      callerFlag(scope),
    ]);
    if (added) {
      await this.database.pool.query({ name: 'trigger-trim', text: TRIM, values: [triggerId] });
      return added;
    }
    const decided = await this.findDecided(triggerId, deliveryId);
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

  private async insertDelivery(values: unknown[]): Promise<DecidedDelivery | undefined> {
    try {
      return (await this.database.pool.query<DecidedDelivery>({ name: 'trigger-add', text: ADD, values })).rows[0];
    } catch (error) {
      if (sqlState(error) === TRIGGER_GONE) throw new ProblemError(404, 'trigger not found');
      throw error;
    }
  }

  private async hasRoom(triggerId: string, tenant: string): Promise<boolean> {
    const values = [triggerId, tenant];
    const { rows } = await this.database.pool.query<{ room: boolean }>({ name: 'trigger-room', text: ROOM, values });
    return rows[0]?.room === true;
  }
}

/** State of PostgreSQL for a delivery whose trigger was deleted (foreign key violation). */
const TRIGGER_GONE = '23503';

function jsonOf(value: JsonObject | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

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
  SELECT number, state, run_id, reason FROM trigger_delivery WHERE trigger_id = $1 AND delivery_key = $2`;

const openOf = (column: string, most: number): string =>
  `(SELECT count(*) FROM (SELECT FROM trigger_delivery WHERE ${column} AND is_open LIMIT ${most}) AS open)`;

const ROOM = `
  SELECT ${openOf('trigger_id = $1', MOST_OPEN.trigger)} < ${MOST_OPEN.trigger}
    AND ${openOf('tenant = $2', MOST_OPEN.tenant)} < ${MOST_OPEN.tenant} AS room`;

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

// A delivery that was rejected is decided again, and keeps its place in the history: its content may be trimmed again.
// The job of a run commits with its delivery.
const ADD = `
  WITH added AS (
    INSERT INTO trigger_delivery AS delivery (trigger_id, delivery_key, cause, state, is_open, tenant, owner, workflow,
      run_id, inputs, event, event_bytes, depth, reason, errors)
    VALUES ($1, $2, $3, $4, $4 = 'starting', $5, $6, $7, $8, $9::json, $10::text::json, octet_length($10::text),
      $11, $12, $13::json)
    ON CONFLICT (trigger_id, delivery_key) DO UPDATE SET state = EXCLUDED.state, is_open = EXCLUDED.is_open, is_recent = true,
      owner = EXCLUDED.owner, workflow = EXCLUDED.workflow, run_id = EXCLUDED.run_id, inputs = EXCLUDED.inputs,
      event = EXCLUDED.event, event_bytes = EXCLUDED.event_bytes, reason = EXCLUDED.reason, errors = EXCLUDED.errors, received_at = clock_timestamp()
      WHERE delivery.state = 'rejected'
    RETURNING number, state, run_id, reason
  ), enqueued AS MATERIALIZED (${enqueueForCallersFrom(`(
    SELECT '${START}', json_build_object('number', number::text), '${START}/' || number, NULL::timestamptz,
      ${START_ATTEMPTS}, NULL::int, $14::text FROM added WHERE state = 'starting')`)})
  SELECT added.*, enqueued.jobs FROM added, enqueued`;

// Rows that another statement trims at the moment are skipped, so statements never wait for each other.
const TRIM = `
  WITH recent AS (
    SELECT number, row_number() OVER newest AS place, sum(coalesce(event_bytes, 0)) OVER newest AS bytes,
      event IS NOT NULL AS has_event
    FROM trigger_delivery WHERE trigger_id = $1 AND is_recent WINDOW newest AS (ORDER BY number DESC)
  ), old AS (
    SELECT number FROM trigger_delivery
    WHERE number IN (SELECT number FROM recent
      WHERE place > ${MOST_RECENT} OR (bytes > ${MOST_KEPT_BYTES} AND has_event))
    FOR UPDATE SKIP LOCKED
  )
  UPDATE trigger_delivery AS delivery SET event = NULL, event_bytes = NULL, is_recent = recent.place <= ${MOST_RECENT}
  FROM old JOIN recent USING (number) WHERE delivery.number = old.number`;

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
