import { createHash } from 'node:crypto';
import { A2AError, invalidParams, type SendMessageRequest, type TaskPushNotificationConfig } from '#libs/protocol';
import type { CallContext, ServedAgent } from '#libs/executor';
import type { CheckedPushConfig, PushConfigs, PushRegistration, ShownPushConfig } from '#libs/push';
import { newTaskId, type TaskHeader } from '#libs/tasks';
import type { Accepted } from './accepted.js';

/** Finds a Task for a caller. @throws A2AError TASK_NOT_FOUND */
type FindTask = (agent: ServedAgent, taskId: string, call: CallContext) => Promise<TaskHeader>;

/** The operations on push notification configs (A2A 1.0, sections 3.1.7 to 3.1.10), and configs that Messages bring. */
export class PushNotifications {
  constructor(
    private readonly find: FindTask,
    private readonly configs: PushConfigs | undefined,
  ) {}

  get supported(): boolean {
    return this.configs !== undefined;
  }

  async create(
    agent: ServedAgent,
    request: TaskPushNotificationConfig & { taskId: string },
    call: CallContext,
  ): Promise<ShownPushConfig> {
    const configs = this.offered(agent);
    const { taskId } = await this.find(agent, request.taskId, call);
    const config = configs.check({ ...request, id: request.id ?? legacyId(call, taskId) });
    return configs.register({ taskId, scope: call.scope, config, wireVersion: wireVersionOf(call) });
  }

  async get(
    agent: ServedAgent,
    { taskId, id }: { taskId: string; id: string },
    call: CallContext,
  ): Promise<ShownPushConfig> {
    const configs = this.offered(agent);
    await this.find(agent, taskId, call);
    const config = await configs.get(taskId, id);
    if (config) return config;
    const message = 'The task has no such push notification config';
    throw new A2AError('TASK_NOT_FOUND', { message, metadata: { taskId, id } });
  }

  /** A Task has few configs: pages are cut from all of them, and a token is the id of the last one. */
  async list(
    agent: ServedAgent,
    { taskId, pageSize, pageToken }: { taskId: string; pageSize?: number; pageToken?: string },
    call: CallContext,
  ): Promise<{ configs: ShownPushConfig[]; nextPageToken: string }> {
    const configs = this.offered(agent);
    await this.find(agent, taskId, call);
    const all = await configs.list(taskId);
    const last = pageToken === undefined ? undefined : Buffer.from(pageToken, 'base64url').toString();
    const begin = all.findIndex(({ id }) => id === last) + 1;
    if (last !== undefined && begin === 0) {
      throw invalidParams({ field: 'pageToken', description: 'is not a token of this list' });
    }
    const page = all.slice(begin, pageSize ? begin + pageSize : undefined);
    const more = begin + page.length < all.length;
    return { configs: page, nextPageToken: more ? Buffer.from(page.at(-1)?.id ?? '').toString('base64url') : '' };
  }

  /** The same for a config that is not there (section 3.1.10). */
  async delete(
    agent: ServedAgent,
    { taskId, id }: { taskId: string; id: string },
    call: CallContext,
  ): Promise<Record<string, never>> {
    const configs = this.offered(agent);
    await this.find(agent, taskId, call);
    await configs.delete(taskId, id);
    return {};
  }

  /**
   * Takes a Message in together with the config that it brings (section 3.2.2). Its notifications begin with the event
   * that the Message makes. What is wrong with the config is refused before anything is written.
   */
  async withConfig(
    agent: ServedAgent,
    { message, configuration }: SendMessageRequest,
    call: CallContext,
    take: (call: CallContext) => Promise<Accepted>,
  ): Promise<Accepted> {
    const configs = this.offered(agent);
    const taskId = message.taskId ?? call.newTaskId?.() ?? newTaskId();
    const given = configuration?.taskPushNotificationConfig ?? { url: '' };
    // The same Message sent again brings the same config.
    const named = { ...given, id: given.id ?? legacyId(call, taskId) ?? derivedId(message.messageId) };
    const config = configs.check(named, 'configuration.taskPushNotificationConfig');
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
    await this.offered(agent).checkRoom(taskId, config);
  }

  /** The repeat of an earlier Message brings nothing, unless the process that took that died before it had registered. */
  private async registerFor(
    { taskId, accepted, repeated }: Extract<Accepted, { execution: unknown }>['execution'],
    registration: Omit<PushRegistration, 'after'>,
    configs: PushConfigs,
  ): Promise<void> {
    const { sequence } = await accepted;
    if (taskId !== registration.taskId) return;
    const brought = { ...registration, after: sequence - 1 };
    await (repeated ? configs.registerOnce(brought) : configs.register(brought));
  }

  private offered({ capabilities }: ServedAgent): PushConfigs {
    if (this.configs && capabilities?.pushNotifications !== false) return this.configs;
    throw new A2AError('PUSH_NOTIFICATION_NOT_SUPPORTED');
  }
}

/** Notifications keep to the version that the config came in. */
function wireVersionOf({ protocolVersion }: CallContext): string {
  return protocolVersion ?? '1.0';
}

/** In 0.3 a config without an id has that of its Task, as at the official SDK's server: it is read without naming one. */
function legacyId({ protocolVersion }: CallContext, taskId: string): string | undefined {
  return protocolVersion === '0.3' ? taskId : undefined;
}

function derivedId(messageId: string): string {
  return createHash('sha256').update(messageId).digest('base64url').slice(0, 22);
}
