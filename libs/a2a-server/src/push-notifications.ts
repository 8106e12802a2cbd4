import { createHash } from 'node:crypto';
import { A2AError, invalidParams, type SendMessageRequest, type TaskPushNotificationConfig } from '#libs/protocol';
import type { CallContext, ServedAgent } from '#libs/executor';
import type { CheckedPushConfig, PushConfigs, PushRegistration, ShownPushConfig } from '#libs/push';
import { newTaskId, type TaskHeader } from '#libs/tasks';
import type { AcceptedMessage } from './accepted.js';

/** Finds a Task for a caller. @throws A2AError TASK_NOT_FOUND */
type FindTask = (agent: ServedAgent, taskId: string, call: CallContext) => Promise<TaskHeader>;

/** Operations on push notification configs (A2A 1.0, sections 3.1.7 to 3.1.10), and configs in Messages. */
export class PushNotifications {
  constructor(
    private readonly find: FindTask,
    private readonly configs: PushConfigs | undefined,
  ) {}

  get supported(): boolean {
    return this.configs !== undefined;
  }

  async createConfig(
    agent: ServedAgent,
    request: TaskPushNotificationConfig & { taskId: string },
    call: CallContext,
  ): Promise<ShownPushConfig> {
    const configs = this.requireOffered(agent);
    const { taskId } = await this.find(agent, request.taskId, call);
    const config = configs.checkConfig({ ...request, id: request.id ?? legacyId(call, taskId) });
    return configs.registerConfig({ taskId, scope: call.scope, config, wireVersion: wireVersionOf(call) });
  }

  async getConfig(
    agent: ServedAgent,
    { taskId, id }: { taskId: string; id: string },
    call: CallContext,
  ): Promise<ShownPushConfig> {
    const configs = this.requireOffered(agent);
    await this.find(agent, taskId, call);
    const config = await configs.get(taskId, id);
    if (config) return config;
    const message = 'The task has no such push notification config';
    throw new A2AError('TASK_NOT_FOUND', { message, metadata: { taskId, id } });
  }

  /**
   * Lists the configs of a Task. Since they are few, pages are cut from all of them, and a token is the id of the last
   * one.
   */
  async listConfigs(
    agent: ServedAgent,
    { taskId, pageSize, pageToken }: { taskId: string; pageSize?: number; pageToken?: string },
    call: CallContext,
  ): Promise<{ configs: ShownPushConfig[]; nextPageToken: string }> {
    const configs = this.requireOffered(agent);
    await this.find(agent, taskId, call);
    const all = await configs.listConfigs(taskId);
    const last = pageToken === undefined ? undefined : Buffer.from(pageToken, 'base64url').toString();
    const begin = all.findIndex(({ id }) => id === last) + 1;
    if (last !== undefined && begin === 0) {
      throw invalidParams({ field: 'pageToken', description: 'is not a token of this list' });
    }
    const page = all.slice(begin, pageSize ? begin + pageSize : undefined);
    const more = begin + page.length < all.length;
    return { configs: page, nextPageToken: more ? Buffer.from(page.at(-1)?.id ?? '').toString('base64url') : '' };
  }

  /** Deletes a config. Deleting one that does not exist has the same result (section 3.1.10). */
  async deleteConfig(
    agent: ServedAgent,
    { taskId, id }: { taskId: string; id: string },
    call: CallContext,
  ): Promise<Record<string, never>> {
    const configs = this.requireOffered(agent);
    await this.find(agent, taskId, call);
    await configs.delete(taskId, id);
    return {};
  }

  /**
   * Accepts a Message with the config that it contains (section 3.2.2). Notifications begin with the event of the
   * Message. An invalid config is rejected before anything is written.
   */
  async withConfig(
    agent: ServedAgent,
    { message, configuration }: SendMessageRequest,
    call: CallContext,
    take: (call: CallContext) => Promise<AcceptedMessage>,
  ): Promise<AcceptedMessage> {
    const configs = this.requireOffered(agent);
    const taskId = message.taskId ?? call.newTaskId?.() ?? newTaskId();
    const given = configuration?.taskPushNotificationConfig ?? { url: '' };
    // A repeated Message has the same config id.
    const named = { ...given, id: given.id ?? legacyId(call, taskId) ?? derivedId(message.messageId) };
    const config = configs.checkConfig(named, 'configuration.taskPushNotificationConfig');
    if (message.taskId !== undefined) await this.checkRoom(agent, message.taskId, config, call);
    const registration = { taskId, scope: call.scope, config, wireVersion: wireVersionOf(call) };
    const jobs = message.taskId === undefined ? [configs.registrationJob({ ...registration, after: 0 })] : [];
    const accepted = await take({ ...call, newTaskId: () => taskId, jobs });
    if ('execution' in accepted) await this.registerFor(accepted.execution, registration, configs);
    return accepted;
  }

  private async checkRoom(
    agent: ServedAgent,
    taskId: string,
    config: CheckedPushConfig,
    call: CallContext,
  ): Promise<void> {
    await this.find(agent, taskId, call);
    await this.requireOffered(agent).checkRoom(taskId, config);
  }

  /**
   * Registers the config of an accepted Message. A repeated Message registers only if the process that accepted it
   * first died before it had registered.
   */
  private async registerFor(
    { taskId, accepted, repeated }: Extract<AcceptedMessage, { execution: unknown }>['execution'],
    registration: Omit<PushRegistration, 'after'>,
    configs: PushConfigs,
  ): Promise<void> {
    const { sequence } = await accepted;
    if (taskId !== registration.taskId) return;
    const brought = { ...registration, after: sequence - 1 };
    await (repeated ? configs.registerOnce(brought) : configs.registerConfig(brought));
  }

  private requireOffered({ capabilities }: ServedAgent): PushConfigs {
    if (this.configs && capabilities?.pushNotifications !== false) return this.configs;
    throw new A2AError('PUSH_NOTIFICATION_NOT_SUPPORTED');
  }
}

/** Returns the version of notifications, that of the request with the config. */
function wireVersionOf({ protocolVersion }: CallContext): string {
  return protocolVersion ?? '1.0';
}

/**
 * Returns the default id of a config. In 0.3 it is that of the Task, as in the official SDK's server, so the config can
 * be read without an id.
 */
function legacyId({ protocolVersion }: CallContext, taskId: string): string | undefined {
  return protocolVersion === '0.3' ? taskId : undefined;
}

function derivedId(messageId: string): string {
  return createHash('sha256').update(messageId).digest('base64url').slice(0, 22);
}
