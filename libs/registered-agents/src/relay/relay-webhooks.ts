import { Injectable } from '@nestjs/common';
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { callerFlagSql } from '#libs/jobs';
import { BatchLoader, Database, isDatabaseAway, serviceSecret } from '#libs/postgres';
import { isActiveState, TASK_STATES } from '#libs/protocol';
import { AppConfig, Backoff } from '#libs/service';
import type { TaskClaim } from '#libs/tasks';

/** Webhook of a Task at its agent. */
export interface RelayWebhook {
  /** Random key, which the URL names: 32 hexadecimal digits. */
  key: string;
  url: string;
  /** Secret that each notification must carry. */
  token: string;
}

/** Data that is stored when a Task is parked, for the polls of its agent and the time of its resumption. */
export interface ParkedState {
  /** Digest of the agent's Task, as it was last read. */
  digest: string;
  /**
   * Seconds until the agent is polled first. Each later pause is twice as long as the one before, up to
   * LONGEST_POLL_PAUSE_S.
   */
  pollPause: number;
  /** Maximum seconds that the Task stays parked without a notification. */
  wakeAfter: number;
  /**
   * True to resume the Task exactly after `wakeAfter`, by a job in the queue. False to resume it some seconds late,
   * without such a job.
   */
  isOnTime: boolean;
}

/** Result of a notification. `taken`: it was handled. `stale`: no Task has this webhook any more. */
export type NotificationOutcome = 'taken' | 'stale';

/** First path segment of the webhooks that agents call. */
export const WEBHOOK_ROOT = 'agent-notifications';
const WEBHOOK_KEY = /^[\da-f]{32}$/;
const KEY_BYTES = 16;
/** Name of the service secret that the tokens of webhooks are derived from. */
const SECRET = 'agent-notifications';
/** Maximum number of notifications that one query looks up. */
const MOST_KEYS = 64;
const AT_ONCE = 2;
/** Maximum number of Tasks of one process that are woken at the same time. */
const WOKEN_AT_ONCE = 4;
/**
 * Pauses before a notification is tried again while the database is away. It is given up once the next pause would be
 * as long as LONGEST_PAUSE_MS.
 */
const [RETRIES, LONGEST_PAUSE_MS] = [new Backoff(50), 2_000];

/**
 * Webhooks by which agents wake parked Tasks. Each such Task stands for a Task of the agent.
 * - A webhook belongs to one Task until the Task is parked the next time, which makes a new webhook: a notification to
 *   the earlier one is stale.
 * - The token of a webhook is verified without a query. It is derived from the key, so no secret is stored.
 * - A notification says only that there is news. The news itself is read from the agent.
 * - A Task is parked only if no notification has come since its agent was read. The statements that park a Task and
 *   that note a notification both lock the Task's row.
 */
@Injectable()
export class RelayWebhooks {
  private secret: Promise<Buffer> | undefined;
  private readonly found = new BatchLoader((keys: readonly string[]) => this.readWebhooks(keys), MOST_KEYS, AT_ONCE);
  private readonly woken = new BatchLoader((ids: readonly string[]) => this.wakeTasks(ids), 1, WOKEN_AT_ONCE);

  constructor(
    private readonly database: Database,
    private readonly config: AppConfig,
  ) {}

  /** True if agents can call the webhooks, because PUBLIC_URL is set. */
  get isReachable(): boolean {
    return this.config.publicUrl !== undefined;
  }

  /**
   * Gives a Task a new webhook. Notifications to its earlier webhook are stale from now on.
   * @returns `undefined` if the claim is lost
   */
  async createWebhook(claim: TaskClaim): Promise<RelayWebhook | undefined> {
    const key = randomBytes(KEY_BYTES).toString('hex');
    const values = [claim.taskId, claim.token, key];
    const token = await this.tokenOf(key);
    const { rowCount } = await this.database.pool.query({ name: 'relay-webhook', text: CREATE, values });
    if (rowCount !== 1) return undefined;
    return { key, url: this.urlOf(key), token };
  }

  /**
   * Discards the notifications so far, before the agent's Task is read. Does nothing if the Task has a newer webhook:
   * an execution that lost its claim must not discard news that a later execution needs.
   */
  async clearNotice(taskId: string, key: string): Promise<void> {
    await this.database.pool.query({ name: 'relay-clear', text: CLEAR, values: [taskId, key] });
  }

  /**
   * Parks a Task, which releases its claim. All events that the execution has recorded must be durable before.
   * @returns false if the claim is lost, or a notification has come since `clearNotice`; nothing has changed then
   */
  async parkTask(
    claim: TaskClaim,
    key: string,
    { digest, pollPause, wakeAfter, isOnTime }: ParkedState,
  ): Promise<boolean> {
    const values = [claim.taskId, claim.token, key, digest, pollPause, wakeAfter, isOnTime];
    const { rowCount } = await this.database.pool.query({ name: 'relay-park', text: PARK, values });
    return rowCount === 1;
  }

  /** True if the token belongs to the webhook with this key. */
  async isValid(key: string, token: string): Promise<boolean> {
    if (!WEBHOOK_KEY.test(key)) return false;
    return timingSafeEqual(digestOf(token), digestOf(await this.tokenOf(key)));
  }

  /** Returns the URL of a webhook, as its agent knows it. */
  urlOf(key: string): string {
    return `${this.config.publicUrl}/${WEBHOOK_ROOT}/${key}`;
  }

  /**
   * Handles a notification to a webhook: wakes the Task if it is parked. If an execution works on the Task, records the
   * notification, so that the execution reads the agent's Task again before it parks. Changes nothing if the Task has
   * ended or waits for its caller. Retries for a few seconds while the database is unreachable.
   * @throws the error of the database
   */
  takeNotification(key: string): Promise<NotificationOutcome> {
    return retryForNotification(() => this.attemptNotification(key));
  }

  private async attemptNotification(key: string): Promise<NotificationOutcome> {
    const webhook = await this.found.get(key);
    if (webhook === undefined) return 'stale';
    const { isActive, isParked, isNotified } = webhook;
    // An awake Task that has been notified before has yet to read its agent: that reading covers this notification too.
    if (isActive && (isParked || !isNotified)) await this.woken.get(webhook.taskId);
    return 'taken';
  }

  /**
   * Returns the tenant and the path of the agent of a webhook. Returns `undefined` if no Task has this webhook: it was
   * replaced by a newer one, or its Task was deleted.
   */
  async findAgent(key: string): Promise<Pick<FoundWebhook, 'tenant' | 'agent'> | undefined> {
    return this.found.get(key);
  }

  /**
   * Wakes a Task if it is parked, so that any replica resumes it. If an execution works on the Task, records a
   * notification, so that the execution reads the agent's Task again before it parks.
   */
  async wakeTask(taskId: string): Promise<void> {
    await this.woken.get(taskId);
  }

  private async tokenOf(key: string): Promise<string> {
    this.secret ??= serviceSecret(this.database, SECRET).catch((error: unknown) => {
      this.secret = undefined;
      throw error;
    });
    return createHmac('sha256', await this.secret)
      .update(key)
      .digest('base64url');
  }

  private async readWebhooks(keys: readonly string[]): Promise<Map<string, FoundWebhook>> {
    const { rows } = await this.database.pool.query<FoundWebhook & { key: string }>({
      name: 'relay-webhooks',
      text: FIND,
      values: [keys],
    });
    return new Map(rows.map((row) => [row.key, row]));
  }

  private async wakeTasks([taskId]: readonly string[]): Promise<Map<string, true>> {
    await this.database.pool.query({ name: 'relay-wake', text: WAKE, values: [taskId] });
    return new Map();
  }
}

/**
 * Retries an operation for a notification for a few seconds while the database is unreachable.
 * @throws the error of the database, upon which the agent gets 503 and may repeat the notification
 */
export function retryForNotification<T>(operation: () => Promise<T>): Promise<T> {
  const isPassing = (error: unknown, pauseMs: number): boolean => pauseMs < LONGEST_PAUSE_MS && isDatabaseAway(error);
  return RETRIES.retryWhile(operation, isPassing);
}

interface FoundWebhook {
  taskId: string;
  tenant: string;
  /** Path of the agent that the Task belongs to. */
  agent: string;
  /** True while the Task works. */
  isActive: boolean;
  isNotified: boolean;
  isParked: boolean;
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** SQL list of the states in which a Task works. */
export const ACTIVE_STATES = TASK_STATES.filter(isActiveState)
  .map((state) => `'${state}'`)
  .join(', ');

/** Returns a SQL expression that enqueues the job which wakes the Task of a row, in place of a pending one. */
function wakeJobSql(time: string): string {
  return `graphile_worker.add_job('tasks.wake', json_build_object('taskId', task_id), job_key => 'tasks.wake/' || task_id,
    flags => ARRAY[${callerFlagSql('tenant', 'owner')}], ${time})`;
}

const CREATE = `
  WITH held AS MATERIALIZED (SELECT task_id FROM task WHERE task_id = $1 AND claim_token = $2 FOR SHARE)
  UPDATE registered_agent_task AS turn SET webhook = $3, is_notified = false, poll_at = NULL
  FROM held WHERE turn.task_id = held.task_id`;
const CLEAR = 'UPDATE registered_agent_task SET is_notified = false WHERE task_id = $1 AND webhook = $2';

// The Task's row is locked first, as in all other statements on both tables. Conditions on what another statement may
// have changed while this one waited for the lock are those of the locked row, or are checked again by the UPDATE.
const PARK = `
  WITH held AS MATERIALIZED (
    SELECT task_id, cancel_requested_at FROM task
    WHERE task_id = $1 AND claim_token = $2 AND state IN (${ACTIVE_STATES}) FOR UPDATE),
  parked AS (
    UPDATE registered_agent_task AS turn
    SET parked_digest = $4, poll_at = now() + $5::float8 * interval '1 second', poll_pause = $5::float8
    FROM held WHERE turn.task_id = held.task_id AND turn.webhook = $3 AND NOT turn.is_notified
    RETURNING turn.task_id),
  released AS (
    UPDATE task SET replica_id = NULL, claim_token = NULL,
      -- A cancel request that nothing has carried out makes the Task due.
      wake_at = CASE WHEN held.cancel_requested_at IS NULL THEN now() + $6::float8 * interval '1 second' ELSE now() END
    FROM parked JOIN held USING (task_id) WHERE task.task_id = parked.task_id
    RETURNING task.task_id, task.tenant, task.owner, task.wake_at)
  SELECT CASE WHEN $7::boolean THEN ${wakeJobSql('run_at => wake_at')} END FROM released`;
const FIND = `
  SELECT turn.webhook AS key, turn.task_id AS "taskId", task.tenant, task.agent, turn.is_notified AS "isNotified",
    turn.poll_at IS NOT NULL AS "isParked", task.state IN (${ACTIVE_STATES}) AS "isActive"
  FROM registered_agent_task turn JOIN task ON task.task_id = turn.task_id
  WHERE turn.webhook = ANY($1::text[])`;
const WAKE = `
  WITH held AS MATERIALIZED (
    SELECT task_id, tenant, owner, claim_token, wake_at FROM task
    WHERE task_id = $1 AND state IN (${ACTIVE_STATES}) FOR UPDATE),
  noted AS (
    UPDATE registered_agent_task AS turn SET is_notified = true, poll_at = NULL
    FROM held WHERE turn.task_id = held.task_id),
  woken AS (
    UPDATE task SET wake_at = now() FROM held
    WHERE task.task_id = held.task_id AND held.claim_token IS NULL AND held.wake_at > now()
    RETURNING held.task_id, held.tenant, held.owner)
  SELECT ${wakeJobSql('run_at => now()')} FROM woken`;
