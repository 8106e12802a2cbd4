import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { type ProblemEntry, ProblemError } from '#libs/http-server';
import { callerFlag, enqueueForCallersFrom } from '#libs/jobs';
import { BatchLoader, Database, sqlState } from '#libs/postgres';
import { A2AError, type JsonObject } from '#libs/protocol';
import { ENDED_TASK, newTaskId, TASK_OUTCOME, type TaskScope } from '#libs/tasks';
import type { TriggerEvent } from '../delivery/received-event.js';

/** Name of the job that starts the run of a delivery. */
export const START = 'triggers.start';
/** Number of attempts at the start of a run; each death of a replica counts as one. */
export const START_ATTEMPTS = 25;

/** Seconds until that job takes over a start that the accepting process makes itself. */
const TAKEOVER_S = 10;

/** Maximum number of deliveries that one statement writes. */
const MOST_TOGETHER = 64;

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
  /** True if this process starts the run itself: then the job is due only after TAKEOVER_S. */
  startsHere?: boolean;
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
  /** Looks of this process for the ended runs of tenants within CLOSE_EVERY_MS. */
  private readonly looks = new LRUCache<string, Promise<unknown>>({ max: 1_000, ttl: CLOSE_EVERY_MS });

  private readonly writer: BatchLoader<NewDelivery, DecidedDelivery | Error>;
  // Deliveries that arrive together share their reads.
  private readonly decided = new BatchLoader<string, DecidedDelivery>((keys) => this.readDecided(keys), MOST_TOGETHER);
  private readonly room = new BatchLoader<string, boolean>((keys) => this.readRoom(keys), MOST_TOGETHER);

  constructor(private readonly database: Database) {
    this.writer = new BatchLoader((deliveries) => this.writeDeliveries(deliveries), MOST_TOGETHER);
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
    const added = await this.writer.get(delivery);
    if (added instanceof Error) throw added;
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

  /**
   * Writes deliveries. Of several with the same id only the first is written.
   * @returns the decision about each written delivery, or the error of one that cannot be written
   */
  private async writeDeliveries(
    deliveries: readonly NewDelivery[],
  ): Promise<Map<NewDelivery, DecidedDelivery | Error>> {
    const firsts = new Map(deliveries.toReversed().map((delivery) => [keyOf(delivery), delivery]));
    try {
      const added = await this.insertDeliveries([...firsts.values()]);
      return new Map(
        added.flatMap(({ key, ...decided }) => {
          const delivery = firsts.get(key);
          return delivery ? [[delivery, decided] as const] : [];
        }),
      );
    } catch (error) {
      if (!isOfValues(error)) throw error;
      if (deliveries.length === 1) return new Map([[deliveries[0]!, refusalOf(error)]]);
      const written: (readonly [NewDelivery, DecidedDelivery | Error])[] = [];
      for (const delivery of firsts.values()) written.push(...(await this.writeDeliveries([delivery])));
      return new Map(written);
    }
  }

  private async insertDeliveries(deliveries: readonly NewDelivery[]): Promise<AddedDelivery[]> {
    const { pool } = this.database;
    const starts = deliveries.some(({ state }) => state === 'starting');
    const { name, text } = starts ? ADD_STARTING : ADD_ENDED;
    const { rows } = await pool.query<AddedDelivery>({
      name,
      text,
      values: [JSON.stringify(deliveries.map(toWritten))],
    });
    const triggers = [...new Set(deliveries.map(({ triggerId }) => triggerId))];
    for (const trigger of triggers) await pool.query({ name: 'trigger-trim', text: TRIM, values: [trigger] });
    return rows;
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

/** Delivery that was written. `key`: see keyOf. */
interface AddedDelivery extends DecidedDelivery {
  key: string;
}

/** Returns a text that is the same for deliveries of a trigger with the same id. */
function keyOf({ triggerId, deliveryId }: Pick<NewDelivery, 'triggerId' | 'deliveryId'>): string {
  return `${triggerId}/${deliveryId}`;
}

/** State of PostgreSQL for a delivery whose trigger was deleted (foreign key violation). */
const TRIGGER_GONE = '23503';

/** True for an error of the values of a delivery, which other deliveries do not have. */
function isOfValues(error: unknown): boolean {
  return /^2[23]/.test(sqlState(error) ?? '');
}

function refusalOf(error: unknown): Error {
  return sqlState(error) === TRIGGER_GONE ? new ProblemError(404, 'trigger not found') : (error as Error);
}

/** Returns the columns of a delivery. Texts of JSON stay texts: the content of a delivery is stored as it was sent. */
function toWritten({ scope, startsHere = false, depth = 0, ...delivery }: NewDelivery): JsonObject {
  const { triggerId, deliveryId, cause, state, workflow, inputs, event, reason, errors } = delivery;
  return {
    trigger_id: triggerId,
    delivery_key: deliveryId,
    ...{ cause, state, workflow, depth },
    tenant: scope.tenant,
    owner: scope.owner,
    run_id: state === 'starting' ? newTaskId() : null,
    inputs: jsonOf(inputs),
    event: jsonOf(event),
    // A text of PostgreSQL has no NUL.
    reason: reason?.replaceAll('\0', '\uFFFD').toWellFormed() ?? null,
    errors: errors && errors.length > 0 ? JSON.stringify(errors) : null,
    caller: callerFlag(scope),
    wait: startsHere ? TAKEOVER_S : 0,
  };
}

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

// A delivery that was rejected is decided again, and keeps its place in the history: its content may be trimmed again.
const ADDED = `
  WITH given AS MATERIALIZED (
    SELECT * FROM json_to_recordset($1::json) AS given (trigger_id uuid, delivery_key text, cause text, state text,
      tenant text, owner text, workflow text, run_id text, inputs text, event text, depth int, reason text, errors text,
      caller text, wait int)
  ), added AS (
    INSERT INTO trigger_delivery AS delivery (trigger_id, delivery_key, cause, state, is_open, tenant, owner, workflow,
      run_id, inputs, event, event_bytes, depth, reason, errors)
    SELECT trigger_id, delivery_key, cause, state, state = 'starting', tenant, owner, workflow, run_id, inputs::json,
      event::json, octet_length(event), depth, reason, errors::json
    FROM given ORDER BY trigger_id, delivery_key
    ON CONFLICT (trigger_id, delivery_key) DO UPDATE SET state = EXCLUDED.state, is_open = EXCLUDED.is_open,
      is_recent = true, owner = EXCLUDED.owner, workflow = EXCLUDED.workflow, run_id = EXCLUDED.run_id,
      inputs = EXCLUDED.inputs, event = EXCLUDED.event, event_bytes = EXCLUDED.event_bytes, reason = EXCLUDED.reason,
      errors = EXCLUDED.errors, received_at = clock_timestamp()
      WHERE delivery.state = 'rejected'
    RETURNING number, state, run_id, reason, trigger_id, delivery_key
  )`;
const RESULT = `added.number, added.state, added.run_id, added.reason, trigger_id || '/' || delivery_key AS key`;

const ADD_ENDED = { name: 'trigger-add-ended', text: `${ADDED} SELECT ${RESULT} FROM added` };

// The jobs of the runs commit with their deliveries.
const ADD_STARTING = {
  name: 'trigger-add',
  text: `${ADDED}, enqueued AS MATERIALIZED (${enqueueForCallersFrom(`(
    SELECT '${START}', json_build_object('number', added.number::text), '${START}/' || added.number,
      CASE WHEN given.wait > 0 THEN clock_timestamp() + make_interval(secs => given.wait) END, ${START_ATTEMPTS}, NULL::int, given.caller
    FROM added JOIN given USING (trigger_id, delivery_key) WHERE added.state = 'starting')`)})
  SELECT ${RESULT}, enqueued.jobs FROM added, enqueued`,
};

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
