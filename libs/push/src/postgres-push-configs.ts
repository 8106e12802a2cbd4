import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type { ClientBase } from 'pg';
import { OutboundHttp } from '#libs/http-client';
import { Jobs } from '#libs/job-queue';
import { type Job, PermanentJobError } from '#libs/jobs';
import { Database, inTransaction } from '#libs/postgres';
import {
  A2AError,
  invalidParams,
  isJsonObject,
  isTerminalState,
  type TaskPushNotificationConfig,
  type TaskState,
} from '#libs/protocol';
import { TaskRetention, type TaskScope } from '#libs/tasks';
import {
  type CheckedPushConfig,
  pushConfigProblems,
  PushConfigs,
  type PushRegistration,
  type ShownPushConfig,
} from './push-configs.js';
import { PushQueues } from './push-queues.js';
import { PushSecretBox } from './push-secrets.js';

/** Name of the job that registers a config if the process that accepted its Message has not done it. */
const REGISTER = 'push.register';

/** Registration as the payload of its job: `config` contains no secrets, `sealed` contains them encrypted. */
interface KeptRegistration extends PushRegistration {
  sealed?: string | null;
}

/** Parses the payload of a registration job. @throws TypeError for a payload of another shape */
function readRegistration(payload: unknown): KeptRegistration {
  if (!isJsonObject(payload) || typeof payload.taskId !== 'string' || !isJsonObject(payload.config)) {
    throw new TypeError('The data are no registration of a config');
  }
  return payload as unknown as KeptRegistration;
}

function sealedRegistration(registration: PushRegistration, secrets: PushSecretBox): Record<string, unknown> {
  const { taskId, config } = registration;
  const { id, url, token, authentication } = config;
  const sealed = secrets.sealSecrets({ taskId, configId: id }, { token, credentials: authentication?.credentials });
  const noted: CheckedPushConfig = {
    id,
    url,
    ...(authentication && { authentication: { scheme: authentication.scheme } }),
  };
  return { ...registration, config: noted, sealed };
}

/** Decrypts the secrets of a registration. @throws UnreadableSecret */
function openRegistration({ sealed, ...registration }: KeptRegistration, secrets: PushSecretBox): PushRegistration {
  if (!sealed) return registration;
  const { taskId, config } = registration;
  const place = { taskId, configId: config.id, sealed, token: null, credentials: null };
  const { token, credentials } = secrets.openSecrets(place);
  const { authentication } = config;
  return {
    ...registration,
    config: {
      ...config,
      ...(token !== undefined && { token }),
      ...(authentication && {
        authentication: { ...authentication, ...(credentials !== undefined && { credentials }) },
      }),
    },
  };
}

/** Maximum number of configs of one Task, deleted ones excluded. */
export const MAX_CONFIGS = 10;
/**
 * Milliseconds until a job registers a config, in case the process that accepted the Message ended before it
 * could do so. Normally that process has registered the config by then.
 */
const ONCE_MORE_MS = 10_000;

interface PushedTaskRow {
  state: TaskState;
  last_sequence: number;
}

interface ConfigRow {
  config_id: string;
  url: string;
  scheme: string | null;
}

/** Implements PushConfigs on PostgreSQL. */
@Injectable()
export class PostgresPushConfigs extends PushConfigs {
  constructor(
    private readonly database: Database,
    private readonly queues: PushQueues,
    jobs: Jobs,
    private readonly outbound: OutboundHttp,
    private readonly secrets: PushSecretBox,
    retention: TaskRetention,
  ) {
    super();
    retention.purgeWith(`DELETE FROM push_repeat USING push_config
      WHERE push_repeat.push_id = push_config.push_id AND push_config.task_id = ANY($1::text[])`);
    retention.purgeWith('DELETE FROM push_delivery WHERE task_id = ANY($1::text[])');
    retention.purgeWith('DELETE FROM push_config WHERE task_id = ANY($1::text[])');
    jobs.registerHandler(REGISTER, {
      read: readRegistration,
      run: (job) => this.registerOnce(openRegistration(job, this.secrets)).catch(refusedForGood),
    });
  }

  checkConfig(config: TaskPushNotificationConfig, field = ''): CheckedPushConfig {
    const problems = pushConfigProblems(config, (url) => this.outbound.mayPermit(url));
    if (problems.length > 0) {
      const prefix = field === '' ? '' : `${field}.`;
      throw invalidParams(...problems.map((problem) => ({ ...problem, field: `${prefix}${problem.field}` })));
    }
    const { url, token, authentication } = config;
    return { id: config.id ?? randomUUID(), url, ...(token && { token }), ...(authentication && { authentication }) };
  }

  async checkRoom(taskId: string, config: CheckedPushConfig): Promise<void> {
    await refuseTooMany(this.database.pool, taskId, config.id);
  }

  async registerConfig(registration: PushRegistration): Promise<ShownPushConfig> {
    const { taskId, scope, config } = registration;
    await inTransaction(this.database, async (client) => {
      const task = await lockTask(client, taskId, scope);
      await refuseTooMany(client, taskId, config.id);
      if (!isTerminalState(task.state)) await client.query(MARK_TASK, [taskId]);
      const values = this.valuesOf(registration, registration.after ?? beginningOf(task));
      await client.query(KEEP, values);
      await this.queues.makeDue([{ ...scope, receiver: new URL(config.url).origin }], client);
    });
    this.queues.announceDue();
    return shownConfig(taskId, config);
  }

  async registerOnce(registration: PushRegistration): Promise<void> {
    const known = await this.database.pool.query(KNOWN, [registration.taskId, registration.config.id]);
    if (known.rowCount === 0) await this.registerConfig(registration);
  }

  registrationJob(registration: PushRegistration & { after: number }): Job {
    return {
      name: REGISTER,
      payload: sealedRegistration(registration, this.secrets),
      runAt: new Date(Date.now() + ONCE_MORE_MS),
    };
  }

  async get(taskId: string, id: string): Promise<ShownPushConfig | undefined> {
    return (await this.listConfigs(taskId)).find((config) => config.id === id);
  }

  async listConfigs(taskId: string): Promise<ShownPushConfig[]> {
    const { rows } = await this.database.pool.query<ConfigRow>(LIST, [taskId]);
    return rows.map(({ config_id: id, url, scheme }) =>
      shownConfig(taskId, { id, url, ...(scheme !== null && { authentication: { scheme } }) }),
    );
  }

  async delete(taskId: string, id: string): Promise<void> {
    await this.database.pool.query(FORGET, [taskId, id]);
  }

  private valuesOf({ taskId, scope, config, wireVersion }: PushRegistration, after: number): unknown[] {
    const { id: configId, url, token, authentication } = config;
    const { tenant, owner } = scope;
    const sealed = this.secrets.sealSecrets({ taskId, configId }, { token, credentials: authentication?.credentials });
    const scheme = authentication?.scheme ?? null;
    const { origin } = new URL(url);
    return [randomUUID(), taskId, configId, tenant, owner, url, scheme, sealed, wireVersion, after, origin];
  }
}

/**
 * Throws a PermanentJobError, after which the job is not retried, if a caller would get the error as well: the Task is
 * gone, or has the maximum of configs. Throws any other error unchanged.
 */
function refusedForGood(error: unknown): never {
  if (!(error instanceof A2AError) || error.status >= 500) throw error;
  throw new PermanentJobError('A push notification config is not registered', { cause: error });
}

/**
 * Locks the row of the Task until the commit, and returns its state and last sequence number. Every transaction that
 * adds an event updates this row, so an event is committed either before the lock, and is counted in the returned row,
 * or after the new config, which then gets it.
 * @throws A2AError TASK_NOT_FOUND
 */
async function lockTask(client: ClientBase, taskId: string, { tenant, owner }: TaskScope): Promise<PushedTaskRow> {
  const { rows } = await client.query<PushedTaskRow>(LOCK_TASK, [taskId, tenant, owner]);
  if (!rows[0]) throw new A2AError('TASK_NOT_FOUND', { metadata: { taskId } });
  return rows[0];
}

/**
 * Returns the sequence number after which a new config gets notifications: the number of the newest event, or for an
 * ended Task the number of the event before its final state.
 */
function beginningOf({ state, last_sequence: last }: PushedTaskRow): number {
  return isTerminalState(state) ? last - 1 : last;
}

async function refuseTooMany(client: Pick<ClientBase, 'query'>, taskId: string, id: string): Promise<void> {
  const { rows } = await client.query<{ others: number }>(COUNT_OTHERS, [taskId, id]);
  if ((rows[0]?.others ?? 0) < MAX_CONFIGS) return;
  const message = `A task has at most ${MAX_CONFIGS} push notification configs`;
  throw new A2AError('INVALID_PARAMS', { message, violations: [{ field: 'taskId', description: message }] });
}

/** Returns a config as its owner may see it: without token and credentials. */
function shownConfig(taskId: string, { id, url, authentication }: CheckedPushConfig): ShownPushConfig {
  return { id, taskId, url, ...(authentication && { authentication: { scheme: authentication.scheme } }) };
}

const LOCK_TASK = `
  SELECT state, last_sequence FROM task WHERE task_id = $1 AND tenant = $2 AND owner = $3 FOR NO KEY UPDATE`;

const MARK_TASK = 'UPDATE task SET pushes = true WHERE task_id = $1 AND NOT pushes';

const COUNT_OTHERS = `
  SELECT count(*)::int AS others FROM push_config WHERE task_id = $1 AND config_id <> $2 AND deleted_at IS NULL`;

/**
 * Inserts a config, or replaces the config with the same id. A config that replaces a deleted one gets the events after
 * the new `delivered_sequence`. A config that replaces any other one gets the events after the last event that the
 * earlier receiver accepted.
 */
const KEEP = `
  INSERT INTO push_config AS held (push_id, task_id, config_id, tenant, owner, url, scheme, secrets,
                                   wire_version, delivered_sequence, receiver, scheduled, due_at, turn)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, true, now(), 1)
  ON CONFLICT (task_id, config_id) DO UPDATE SET
    url = excluded.url, scheme = excluded.scheme, secrets = excluded.secrets, token = NULL, credentials = NULL,
    wire_version = excluded.wire_version, receiver = excluded.receiver, due_at = excluded.due_at, lane = NULL,
    delivered_sequence = CASE WHEN held.deleted_at IS NULL THEN held.delivered_sequence
                              ELSE excluded.delivered_sequence END,
    scheduled = true, turn = held.turn + 1, attempts = 0, next_attempt_at = NULL, disabled_reason = NULL,
    deleted_at = NULL, updated_at = now()`;

const LIST = `
  SELECT config_id, url, scheme FROM push_config
  WHERE task_id = $1 AND deleted_at IS NULL ORDER BY created_at, config_id`;

const KNOWN = 'SELECT FROM push_config WHERE task_id = $1 AND config_id = $2';

/** Deletes a config, and marks its pending deliveries as failed in `push_delivery`. */
const FORGET = `
  WITH forgotten AS (
    UPDATE push_config SET deleted_at = now(), updated_at = now(), scheduled = false, due_at = NULL, lane = NULL,
      turn = turn + 1, token = NULL, scheme = NULL, credentials = NULL, secrets = NULL
    WHERE task_id = $1 AND config_id = $2 AND deleted_at IS NULL
    RETURNING push_id
  )
  UPDATE push_delivery SET status = 'failed', updated_at = now() FROM forgotten
  WHERE push_delivery.push_id = forgotten.push_id AND status = 'pending'`;
