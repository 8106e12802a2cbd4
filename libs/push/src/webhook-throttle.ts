import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { enqueueFrom } from '#libs/jobs';
import { Database } from '#libs/postgres';
import type { ClientBase, QueryResult } from 'pg';
import { DUE_CONFIG, type DueConfig } from './due-config.js';
import { keyFor, RECEIVER_OF_URL } from './push-lane-migration.js';
import { SERVE, type ServePayload } from './serve-job.js';

/** Lanes of one receiver, over all replicas: so many attempts at it are under way at once, half of a replica's jobs. */
const LANES = 2;
/** Receivers that one transaction calls lanes for: each of them takes a lock until it ends. */
const CALLED_AT_ONCE = 200;

/** A lane of a receiver that a job works in. */
export interface PushLane extends ServePayload {
  number: number;
}

/**
 * Throttles the calls of each receiver of webhooks by its lanes: what waits for a receiver waits in a table, and costs
 * nothing until a lane comes to it. A lane belongs to the job that entered it, whichever process does that; what a process
 * had in hand that died is taken up by the next that does its job.
 */
@Injectable()
export class WebhookThrottle {
  constructor(private readonly database: Database) {}

  /** Has a lane of a receiver begin, unless enough are at work; in the transaction that gives it something to do. */
  async call(receiver: string, client: Pick<ClientBase, 'query'>): Promise<void> {
    await client.query('SELECT push_call($1, $2)', [receiver, LANES]);
  }

  /** `undefined` where other jobs have all lanes: they do what this one would. */
  async enter(job: ServePayload): Promise<PushLane | undefined> {
    const { receiver, holder } = job;
    const { rows } = await this.database.pool.query<{ number: number | null }>(ENTER, [receiver, holder, LANES]);
    const number = rows[0]?.number ?? null;
    return number === null ? undefined : { ...job, number };
  }

  /** Takes the config in hand that has waited longest; `undefined` where none is due. */
  async next({ receiver, number }: PushLane): Promise<DueConfig | undefined> {
    const { rows } = await this.database.pool.query<DueConfig>({
      name: 'push-next',
      text: NEXT,
      values: [receiver, number],
    });
    return rows[0];
  }

  /**
   * The lane goes on later, or after jobs that have waited for their place; until then it counts as at work. Its job has
   * another name: should this process die before the old one is done, that one finds its lane taken.
   */
  async goOn({ receiver, holder, failures }: ServePayload, at: Date): Promise<void> {
    const runAt = this.database.timeThere(at);
    await this.database.pool.query(GO_ON, [receiver, holder, randomUUID(), failures, runAt]);
  }

  /** The job comes again in a second or two; the lane that it has, if any, stays its own. */
  async putOff({ receiver, holder, failures }: ServePayload): Promise<void> {
    await this.database.pool.query(PUT_OFF, [receiver, holder, randomUUID(), failures]);
  }

  /** Ends the lane where nothing is due. @returns whether it did */
  async leave({ receiver, holder }: PushLane): Promise<boolean> {
    const { rows } = await this.database.pool.query<{ left: boolean }>(LEAVE, [receiver, holder]);
    return rows[0]?.left ?? false;
  }

  /** Begins lanes for what nobody seems to work on any more. @returns how many lanes and configs were lost */
  async revive(): Promise<number> {
    const { rows } = await this.database.pool.query<{ lost: number }>(REVIVE);
    const earlier = await this.database.pool.query(TAKE_OVER_LOST);
    await this.callWaiting();
    return (rows[0]?.lost ?? 0) + (earlier.rowCount ?? 0);
  }

  private async callWaiting(): Promise<void> {
    let after: string | undefined = '';
    while (after !== undefined) {
      const values: [number, string, number] = [LANES, after, CALLED_AT_ONCE];
      const { rows }: QueryResult<{ receiver: string }> = await this.database.pool.query(CALL_WAITING, values);
      after = rows.length < CALLED_AT_ONCE ? undefined : rows.at(-1)?.receiver;
    }
  }
}

const ENTER = 'SELECT push_enter($1, $2, $3) AS number';

// Configs with an event that is being committed are passed over: the lane does not end before that is.
const NEXT = `
  UPDATE push_config SET lane = $2, turn = turn + 1, updated_at = now()
  WHERE push_id = (
    SELECT push_id FROM push_config
    WHERE receiver = $1 AND scheduled AND lane IS NULL AND due_at <= now()
    ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING ${DUE_CONFIG}`;

/** A job that lost its lane, or never had one, has a key: of those for one time, one is enough. */
const later = (runAt: string): string => `
  WITH held AS (
    UPDATE push_lane SET holder = $3::text, updated_at = now() WHERE receiver = $1::text AND holder = $2::text
    RETURNING receiver)
  ${enqueueFrom(`(
    SELECT '${SERVE}', json_build_object('receiver', $1::text, 'holder', $3::text, 'failures', $4::int),
      CASE WHEN NOT EXISTS (SELECT FROM held) THEN ${keyFor('$1::text', 'run_at')} END, run_at, 25, 5
    FROM (SELECT ${runAt}) AS later (run_at))`)}`;

const GO_ON = later('$5::timestamptz');

// At full seconds, so that many jobs for one receiver become one.
const PUT_OFF = later(`date_trunc('second', now()) + interval '2 seconds'`);

const LEAVE = 'SELECT push_leave($1, $2) AS left';

const LONG_AGO = `updated_at < now() - interval '15 minutes'`;

const REVIVE = `
  WITH lanes AS (DELETE FROM push_lane WHERE ${LONG_AGO} RETURNING receiver),
  configs AS (
    UPDATE push_config SET lane = NULL, turn = turn + 1, updated_at = now()
    WHERE lane IS NOT NULL AND ${LONG_AGO} RETURNING receiver)
  SELECT (SELECT count(*) FROM lanes)::int + (SELECT count(*) FROM configs)::int AS lost`;

// Of a version before lanes, whose job for it is gone. One that is locked is being changed, and comes another time.
const TAKE_OVER_LOST = `
  UPDATE push_config SET receiver = coalesce(receiver, ${RECEIVER_OF_URL}), due_at = coalesce(next_attempt_at, updated_at),
    turn = turn + 1, updated_at = now()
  WHERE push_id IN (
    SELECT push_id FROM push_config
    WHERE scheduled AND due_at IS NULL AND lane IS NULL AND ${LONG_AGO}
      AND (next_attempt_at IS NULL OR next_attempt_at < now() - interval '15 minutes')
    FOR UPDATE SKIP LOCKED)`;

const CALL_WAITING = `
  SELECT receiver, push_call(receiver, $1::int) FROM (
    SELECT DISTINCT receiver FROM push_config
    WHERE scheduled AND lane IS NULL AND due_at < now() - interval '15 minutes' AND receiver > $2
    ORDER BY receiver LIMIT $3::int) AS waiting
  ORDER BY receiver`;
