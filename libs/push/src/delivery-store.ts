import { Injectable } from '@nestjs/common';
import { inTransaction } from '#libs/postgres';
import { RECEIVER_OF_URL } from './push-lane-migration.js';
import { DUE_CONFIG, type DueConfig, type PushQueue, PushQueues, PushSessions } from './push-queues.js';
import type { AttemptOutcome } from './retry-plan.js';

/**
 * Stores the progress of each push config (webhook). One worker at a time (a lane, see PushQueues) holds a config and
 * sends its notifications. Each new holder increments the number `turn` of the config, and writes with an earlier
 * number have no effect: of two concurrent holders only the newer one succeeds.
 */
@Injectable()
export class DeliveryStore {
  constructor(
    private readonly database: PushSessions,
    private readonly queues: PushQueues,
  ) {}

  /**
   * Returns the config, even if another lane (a worker on one queue) holds it; `undefined` if the config is deleted.
   */
  async findConfig(pushId: string): Promise<DueConfig | undefined> {
    const { rows } = await this.database.pool.query<DueConfig>(CONFIG, [pushId]);
    return rows[0];
  }

  /**
   * Records that the receiver accepted the event with this sequence number.
   * @returns false if the config has a newer holder
   */
  async recordDelivered(config: DueConfig, sequence: number, outcome: AttemptOutcome): Promise<boolean> {
    const { rowCount } = await this.database.pool.query(DELIVERED, [
      ...ledgerValues(config, sequence, outcome, 'delivered'),
      config.turn,
    ]);
    return rowCount === 1;
  }

  /**
   * Records that the receiver did not accept the event with this sequence number. The config waits until `next`, the
   * time of its next attempt.
   */
  async recordFailed(config: DueConfig, sequence: number, outcome: AttemptOutcome, next: Date): Promise<void> {
    const values = [...ledgerValues(config, sequence, outcome, 'pending'), config.turn, this.database.timeThere(next)];
    await this.database.pool.query(FAILED, values);
  }

  /**
   * Disables a config after a failed attempt at the event with this sequence number: nothing more is sent to it.
   * `reason` is stored with the config.
   */
  async disableConfig(config: DueConfig, sequence: number, outcome: AttemptOutcome, reason: string): Promise<void> {
    const values = [...ledgerValues(config, sequence, outcome, 'failed'), config.turn, reason];
    await this.database.pool.query(DISABLED, values);
  }

  /**
   * Puts a config back into its queue: due now, after all waiting configs, or due at the time `until` if it is given.
   */
  async putBack({ pushId, turn }: DueConfig, until?: Date): Promise<void> {
    await this.database.pool.query(PUT_BACK, [pushId, turn, until ? this.database.timeThere(until) : null]);
  }

  /**
   * Releases a config for which nothing is left to send; the next event makes the config due again.
   * @returns false if events are left to send; true if the config is released or has a newer holder
   */
  async backOff(config: DueConfig): Promise<boolean> {
    return inTransaction(this.database, async (client) => {
      // Waits for events that are being committed (push_wake), and delays those that follow.
      const { rows } = await client.query<{ delivered: number }>(LOCK, [config.pushId, config.turn]);
      if (!rows[0]) return true;
      const { rowCount } = await client.query(REST, [config.pushId]);
      return rowCount === 1;
    });
  }

  /**
   * Makes a config due at once, even if it is disabled or waits for its next attempt.
   * @returns false if the config is deleted
   */
  async retryNow(pushId: string): Promise<boolean> {
    const isThere = await inTransaction(this.database, async (client) => {
      const { rows } = await client.query<PushQueue>(RETRY_NOW, [pushId]);
      await this.queues.makeDueNow(rows, client);
      return rows.length > 0;
    });
    this.queues.announceDue();
    return isThere;
  }

  /**
   * Queues a config that a replica of an earlier version scheduled with a job. Does nothing if the config has a newer
   * holder.
   */
  async takeOver(pushId: string, turn: number): Promise<void> {
    await inTransaction(this.database, async (client) => {
      await this.queues.makeDue((await client.query<PushQueue>(TAKE_OVER, [pushId, turn])).rows, client);
    });
    this.queues.announceDue();
  }

  /** Records another attempt at the event with this sequence number, which was delivered already. */
  async recordRepeated(config: DueConfig, sequence: number, { status, error }: AttemptOutcome): Promise<void> {
    await this.database.pool.query(REPEATED, [config.pushId, sequence, status ?? null, error ?? null]);
  }
}

function ledgerValues(config: DueConfig, sequence: number, outcome: AttemptOutcome, status: string): unknown[] {
  const { pushId, taskId, tenant, owner } = config;
  return [pushId, sequence, taskId, tenant, owner, status, outcome.status ?? null, outcome.error ?? null];
}

const CONFIG = `SELECT ${DUE_CONFIG} FROM push_config WHERE push_id = $1 AND deleted_at IS NULL`;

/** Writes to the ledger in the statement that changes the config (`moved`), and only if the config changes. */
const LEDGER = `
  INSERT INTO push_delivery AS held (push_id, sequence, task_id, tenant, owner, status, attempts, last_status, last_error)
  SELECT $1, $2::int, $3, $4, $5, $6, 1, $7::int, $8 FROM moved
  ON CONFLICT (push_id, sequence) DO UPDATE SET status = excluded.status, attempts = held.attempts + 1,
    last_status = excluded.last_status, last_error = excluded.last_error, updated_at = now()`;

const DELIVERED = `
  WITH moved AS (
    UPDATE push_config SET delivered_sequence = $2::int, attempts = 0, next_attempt_at = NULL, updated_at = now()
    WHERE push_id = $1 AND turn = $9 AND delivered_sequence = $2::int - 1
    RETURNING push_id
  )${LEDGER}`;

const FAILED = `
  WITH moved AS (
    UPDATE push_config SET attempts = attempts + 1, next_attempt_at = $10, due_at = $10, lane = NULL,
      turn = turn + 1, updated_at = now()
    WHERE push_id = $1 AND turn = $9
    RETURNING push_id
  )${LEDGER}`;

const DISABLED = `
  WITH moved AS (
    UPDATE push_config SET attempts = attempts + 1, next_attempt_at = NULL, scheduled = false, due_at = NULL, lane = NULL,
      disabled_reason = $10, updated_at = now()
    WHERE push_id = $1 AND turn = $9
    RETURNING push_id
  )${LEDGER}`;

const PUT_BACK = `
  UPDATE push_config SET due_at = coalesce($3, now()), lane = NULL, turn = turn + 1, updated_at = now()
  WHERE push_id = $1 AND turn = $2 AND scheduled`;

const LOCK = `
  SELECT delivered_sequence FROM push_config WHERE push_id = $1 AND turn = $2 AND scheduled FOR UPDATE`;

const REST = `
  UPDATE push_config SET scheduled = false, due_at = NULL, lane = NULL, updated_at = now()
  WHERE push_id = $1 AND NOT EXISTS (
    SELECT FROM task WHERE task.task_id = push_config.task_id AND task.last_sequence > push_config.delivered_sequence)`;

const RETRY_NOW = `
  UPDATE push_config SET disabled_reason = NULL, attempts = 0, next_attempt_at = NULL, scheduled = true, turn = turn + 1,
    receiver = coalesce(receiver, ${RECEIVER_OF_URL}), due_at = now(), lane = NULL, updated_at = now()
  WHERE push_id = $1 AND deleted_at IS NULL
  RETURNING tenant, owner, receiver`;

const TAKE_OVER = `
  UPDATE push_config SET turn = turn + 1, receiver = coalesce(receiver, ${RECEIVER_OF_URL}), due_at = now(), lane = NULL,
    updated_at = now()
  WHERE push_id = $1 AND turn = $2 AND scheduled
  RETURNING tenant, owner, receiver`;

const REPEATED = `
  UPDATE push_delivery SET attempts = attempts + 1, last_status = $3, last_error = $4, updated_at = now()
  WHERE push_id = $1 AND sequence = $2`;
