import { ProblemError, type ProblemEntry } from '#libs/http-server';
import { callerFlag, enqueueForCallersFrom } from '#libs/jobs';
import { BatchLoader, type Database, sqlState } from '#libs/postgres';
import type { JsonObject } from '#libs/protocol';
import { newTaskId, type TaskScope } from '#libs/tasks';
import type { TriggerEvent } from '../delivery/received-event.js';

/** Name of the job that starts the run of a delivery. */
export const START = 'triggers.start';
/** Number of attempts at the start of a run; each death of a replica counts as one. */
export const START_ATTEMPTS = 25;

/** Seconds until that job takes over a start that the accepting process makes itself. */
const TAKEOVER_S = 10;

/** Maximum number of deliveries that one statement writes, and of the characters of their contents unless it is one. */
const MOST_TOGETHER = 64;
const MOST_CHARACTERS = 4 * 1024 ** 2;

/** Number of the newest deliveries of a trigger that are kept whatever their age, with their content. */
const MOST_RECENT = 100;
/** Maximum bytes of content that are kept of the deliveries of a trigger. */
const MOST_KEPT_BYTES = 4 * 1024 ** 2;

/** Cause of a delivery: its sender, a caller that sent it again, or the end of a run. */
export type DeliveryCause = 'delivery' | 'replay' | 'run';

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

/**
 * Writes deliveries, and with them the jobs of their runs. Deliveries that arrive together share a statement: the
 * commits of statements that enqueue jobs wait for each other, as each sends a notification.
 */
export class DeliveryWriter {
  private readonly batches: BatchLoader<NewDelivery, DecidedDelivery | Error>;

  constructor(private readonly database: Database) {
    this.batches = new BatchLoader((deliveries) => this.writeDeliveries(deliveries), MOST_TOGETHER);
  }

  /**
   * Writes a delivery, and forgets the content of older ones.
   * @returns the decision; `undefined` if another delivery with the same id was accepted in the meantime
   * @throws ProblemError 404 if the trigger has been deleted
   */
  async writeDelivery(delivery: NewDelivery): Promise<DecidedDelivery | undefined> {
    const written = await this.batches.get(delivery);
    if (written instanceof Error) throw written;
    return written;
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
    const added: AddedDelivery[] = [];
    for (const group of groupWritten(deliveries)) {
      const { name, text } = group.some(({ state }) => state === 'starting') ? ADD_STARTING : ADD_ENDED;
      const { rows } = await pool.query<AddedDelivery>({ name, text, values: [JSON.stringify(group)] });
      added.push(...rows);
    }
    const triggers = [...new Set(deliveries.map(({ triggerId }) => triggerId))];
    for (const trigger of triggers) await pool.query({ name: 'trigger-trim', text: TRIM, values: [trigger] });
    return added;
  }
}

/** Delivery that was written. `key`: see keyOf. */
export interface AddedDelivery extends DecidedDelivery {
  key: string;
}

/** Returns a text that is the same for deliveries of a trigger with the same id. */
export function keyOf({ triggerId, deliveryId }: Pick<NewDelivery, 'triggerId' | 'deliveryId'>): string {
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

/** Columns of a delivery. */
type WrittenDelivery = JsonObject & { inputs: string | null; event: string | null };

/** Returns the columns of a delivery. Texts of JSON stay texts: the content of a delivery is stored as it was sent. */
function toWritten({ scope, startsHere = false, depth = 0, ...delivery }: NewDelivery): WrittenDelivery {
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

/** Yields the columns of deliveries in groups of at most MOST_CHARACTERS, or of one delivery. */
function* groupWritten(deliveries: readonly NewDelivery[]): Generator<WrittenDelivery[], void, void> {
  let group: WrittenDelivery[] = [];
  let characters = 0;
  for (const delivery of deliveries) {
    const written = toWritten(delivery);
    const length = (written.event?.length ?? 0) + (written.inputs?.length ?? 0);
    if (group.length > 0 && characters + length > MOST_CHARACTERS) {
      yield group;
      group = [];
      characters = 0;
    }
    group.push(written);
    characters += length;
  }
  yield group;
}

function jsonOf(value: JsonObject | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

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
