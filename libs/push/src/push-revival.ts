import { Injectable, Logger } from '@nestjs/common';
import { Jobs } from '#libs/job-queue';
import { Database } from '#libs/postgres';
import { DeliveryStore } from './delivery-store.js';
import { RECEIVER_OF_URL } from './push-lane-migration.js';
import { PushQueues } from './push-queues.js';
import { PushRepeats } from './push-repeats.js';

const REVIVE = { name: 'push.revive', match: '*/10 * * * *' };
/** Number of receivers whose queues one statement makes due. */
const RECEIVERS_AT_ONCE = 200;

/**
 * Resumes deliveries that no lane works on, and removes queues that have had no deliveries for a day. Runs every ten
 * minutes.
 */
@Injectable()
export class PushRevival {
  private readonly logger = new Logger(PushRevival.name);

  constructor(
    private readonly database: Database,
    private readonly queues: PushQueues,
    jobs: Jobs,
  ) {
    jobs.registerHandler(REVIVE.name, { purpose: 'push', read: () => undefined, run: () => this.reviveDeliveries() });
    jobs.scheduleCron(REVIVE);
  }

  async reviveDeliveries(): Promise<void> {
    const { rows } = await this.database.pool.query<{ lost: number }>(FREE_LOST);
    const earlier = await this.database.pool.query(TAKE_OVER_LOST);
    await this.makeWaitingDue();
    await this.database.pool.query(FORGET_IDLE);
    this.queues.announceDue();
    const lost = (rows[0]?.lost ?? 0) + (earlier.rowCount ?? 0);
    if (lost > 0) this.logger.warn({ lost }, 'Abandoned push deliveries resume');
  }

  private async makeWaitingDue(): Promise<void> {
    let after: string | undefined = '';
    while (after !== undefined) {
      const values: [string, number] = [after, RECEIVERS_AT_ONCE];
      const { rows } = await this.database.pool.query<{ receiver: string }>(MAKE_WAITING_DUE, values);
      after = rows.length < RECEIVERS_AT_ONCE ? undefined : rows.at(-1)?.receiver;
    }
  }
}

const LONG_AGO = `updated_at < now() - interval '15 minutes'`;

const FREE_LOST = `
  WITH lanes AS (DELETE FROM push_lane WHERE ${LONG_AGO} RETURNING receiver),
  configs AS (
    UPDATE push_config SET lane = NULL, turn = turn + 1, updated_at = now()
    WHERE lane IS NOT NULL AND ${LONG_AGO} RETURNING receiver)
  SELECT (SELECT count(*) FROM lanes)::int + (SELECT count(*) FROM configs)::int AS lost`;

// Resumes configs of a version before lanes, whose job is gone. A locked row is being changed, and is resumed by a
// later run.
const TAKE_OVER_LOST = `
  UPDATE push_config SET receiver = coalesce(receiver, ${RECEIVER_OF_URL}), due_at = coalesce(next_attempt_at, updated_at),
    turn = turn + 1, updated_at = now()
  WHERE push_id IN (
    SELECT push_id FROM push_config
    WHERE scheduled AND due_at IS NULL AND lane IS NULL AND ${LONG_AGO}
      AND (next_attempt_at IS NULL OR next_attempt_at < now() - interval '15 minutes')
    FOR UPDATE SKIP LOCKED)`;

const MAKE_WAITING_DUE = `
  SELECT receiver, push_make_due(receiver) FROM (
    SELECT DISTINCT receiver FROM push_config
    WHERE scheduled AND lane IS NULL AND due_at < now() - interval '15 minutes' AND receiver > $1
    ORDER BY receiver LIMIT $2::int) AS waiting
  ORDER BY receiver`;

const FORGET_IDLE = `
  DELETE FROM push_queue WHERE due_at IS NULL AND updated_at < now() - interval '1 day'`;

/** Name of the job that sent to one config, as earlier versions enqueued it. */
const DELIVER = 'push.deliver';

/** Payload of the job that sent a config's notifications. */
interface DeliverPayload {
  /** Id of the push config. */
  pushId: string;
  /** Fencing number of the config (`DueConfig.turn`) when the job was enqueued. */
  turn: number;
}

/** Parses the payload. @throws TypeError for a payload of another shape */
function readDeliverPayload(payload: unknown): DeliverPayload {
  const { pushId, turn } = (payload ?? {}) as Record<string, unknown>;
  if (typeof pushId !== 'string' || typeof turn !== 'number') throw new TypeError('The job names no turn of a config');
  return { pushId, turn };
}

/** Name of the job that sent a notification again, as earlier versions enqueued it. */
const REDELIVER = 'push.redeliver';

/** Payload of the job that sent a notification again. */
interface Redelivery {
  /** Id of the push config. */
  pushId: string;
  sequence: number;
}

/** Parses the payload. @throws TypeError for a payload of another shape */
function readRedelivery(payload: unknown): Redelivery {
  const { pushId, sequence } = (payload ?? {}) as Record<string, unknown>;
  if (typeof pushId !== 'string' || typeof sequence !== 'number') throw new TypeError('The job names no notification');
  return { pushId, sequence };
}

/** Name of the job that held a lane of a receiver, as earlier versions enqueued it. */
const SERVE = 'push.serve';

/** Payload of the job that held a lane: the lane's receiver, and the holder name of the job. */
interface ServePayload {
  receiver: string;
  holder: string;
}

/** Parses the payload. @throws TypeError for a payload of another shape */
function readServePayload(payload: unknown): ServePayload {
  const { receiver, holder = '' } = (payload ?? {}) as Record<string, unknown>;
  if (typeof receiver !== 'string' || typeof holder !== 'string')
    throw new TypeError('The job names no lane of a receiver');
  return { receiver, holder };
}

/**
 * Moves the work of earlier versions' jobs into the queues of webhooks: jobs that sent a config's notifications, held a
 * lane of a receiver, or sent one notification again.
 */
@Injectable()
export class PushJobs {
  constructor(jobs: Jobs, store: DeliveryStore, queues: PushQueues, repeats: PushRepeats) {
    jobs.registerHandler(DELIVER, {
      purpose: 'push',
      read: readDeliverPayload,
      run: ({ pushId, turn }) => store.takeOver(pushId, turn),
    });
    jobs.registerHandler(SERVE, {
      purpose: 'push',
      read: readServePayload,
      run: ({ receiver, holder }) => queues.takeOverLane(receiver, holder),
    });
    jobs.registerHandler(REDELIVER, { purpose: 'push', read: readRedelivery, run: (repeat) => repeats.add(repeat) });
  }
}
