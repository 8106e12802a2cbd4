import { createHash } from 'node:crypto';
import {
  AgentCatalog,
  agentOrGone,
  type CallContext,
  checkMediaTypes,
  readsText,
  type ServedAgent,
} from '#libs/agents';
import { acceptedRevision, type Execution, ExecutionRegistry } from '#libs/executor';
import {
  A2AError,
  invalidParams,
  isTerminalState,
  type Message,
  type SendMessageRequest,
  type TaskPushNotificationConfig,
  textPart,
} from '#libs/protocol';
import type { CheckedPushConfig, PushConfigs, PushRegistration, ShownPushConfig } from '#libs/push';
import { newTaskId, PreconditionFailed, type TaskHeader, type TaskStore } from '#libs/tasks';
import { idempotencyKeyOf, requireExtensions } from './extensions.js';
import { callToAgent, tenantAgent } from './http/call-context.js';

/** Result of accepting a Message: a direct answer, or the execution of a Task. */
export type AcceptedMessage = { reply: Message } | { execution: Execution };

/** Function that finds a Task for a caller. @throws A2AError TASK_NOT_FOUND */
type FindTask = (agent: ServedAgent, taskId: string, call: CallContext) => Promise<TaskHeader>;

/** Operations on push notification configs (A2A 1.0, sections 3.1.7 to 3.1.10), and Messages with a config. */
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
   * Lists the configs of a Task. Since they are few, a page is cut from all configs, and a page token encodes the id of
   * the last config of the page before.
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

  /** Deletes a config. Deleting a config that does not exist also succeeds (section 3.1.10). */
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
   * Accepts a Message together with the push config that it contains (section 3.2.2). Notifications begin with the
   * event of the Message. An invalid config is rejected before anything is written.
   * @param take function that accepts the Message, called with the context to accept it in
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
   * Registers the config of an accepted Message. For a repeated Message, registers the config only if the process
   * that accepted the Message the first time died before it had registered the config.
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

/**
 * Returns the protocol version in which notifications are sent: the version of the request that contained the config.
 */
function wireVersionOf({ protocolVersion }: CallContext): string {
  return protocolVersion ?? '1.0';
}

/**
 * Returns the default id of a config. In 0.3 it is the id of the Task, as in the official SDK's server, so the config
 * can be read without an id; `undefined` in 1.0.
 */
function legacyId({ protocolVersion }: CallContext, taskId: string): string | undefined {
  return protocolVersion === '0.3' ? taskId : undefined;
}

function derivedId(messageId: string): string {
  return createHash('sha256').update(messageId).digest('base64url').slice(0, 22);
}

/** Accepts Messages. All checks of sections 3.1.1, 3.3.4 and 3.4 precede any write. */
export class MessageAcceptance {
  constructor(
    private readonly catalog: AgentCatalog,
    private readonly executions: ExecutionRegistry,
    private readonly tasks: TaskStore,
    private readonly push: PushNotifications,
  ) {}

  /**
   * Accepts a Message, which begins or continues a Task. If `agent` comes from a cache (it has a `premise`), accepts
   * only a Message that begins a Task, has no push config and passes all checks.
   * @throws A2AError if the Message is rejected; nothing was written then
   * @throws UnknownAgent if the agent does not exist
   * @throws PreconditionFailed if `agent` comes from a cache and the Message was not accepted; the caller then repeats
   *   the call with the newest revision of the agent
   */
  async acceptMessage(agent: ServedAgent, request: SendMessageRequest, call: CallContext): Promise<AcceptedMessage> {
    if (agent.gone && request.message.taskId === undefined) throw agent.gone;
    if (agent.premise) return this.beginOnPremise(agent, request, call);
    const takeMessage = (taken: CallContext): Promise<AcceptedMessage> => this.beginOrContinue(agent, request, taken);
    return request.configuration?.taskPushNotificationConfig
      ? this.push.withConfig(agent, request, call, takeMessage)
      : takeMessage(call);
  }

  private async beginOnPremise(
    agent: ServedAgent,
    request: SendMessageRequest,
    call: CallContext,
  ): Promise<AcceptedMessage> {
    const { message, configuration } = request;
    if (message.taskId !== undefined || configuration?.taskPushNotificationConfig) throw new PreconditionFailed();
    const begun = await this.beginTask(agent, request, call).catch(() => undefined);
    if (begun && 'execution' in begun) return begun;
    throw new PreconditionFailed();
  }

  private beginOrContinue(
    agent: ServedAgent,
    request: SendMessageRequest,
    call: CallContext,
  ): Promise<AcceptedMessage> {
    const { taskId } = request.message;
    return taskId === undefined
      ? this.beginTask(agent, request, call)
      : this.continueTask(agent, taskId, request, call);
  }

  private async beginTask(agent: ServedAgent, sent: SendMessageRequest, made: CallContext): Promise<AcceptedMessage> {
    const target = await this.resolveTarget(agent, sent, made);
    const call = callToAgent(made, target);
    const request = withNodeOrder(call.agent, target, sent);
    const key = idempotencyKeyOf(sent, call);
    const checked = await this.checkMessage(target, request, call, key, sent);
    if (checked) return checked;
    if (key === undefined) {
      const kept = await this.executions.files.keepFiles(request, call);
      return { execution: this.executions.beginExecution(target, kept, call) };
    }
    return { execution: await this.executions.beginOnce(target, request, call, key, sent) };
  }

  /**
   * Checks a Message against the agent's current state. A Message that was already accepted under its idempotency key
   * is not rejected by these checks: the agent may have changed in the meantime.
   * @param key idempotency key; absent: the request has none
   * @param sent request as the caller sent it, by which a repetition is recognized
   * @returns the answer: the agent's direct Message, or the execution of a Message that was accepted before;
   *   `undefined` if the Message still has to be accepted
   */
  private async checkMessage(
    target: ServedAgent,
    request: SendMessageRequest,
    call: CallContext,
    key: string | undefined,
    sent = request,
  ): Promise<AcceptedMessage | undefined> {
    try {
      requireExtensions(target, call);
      if (!target.gone) checkMediaTypes(await beginningAt(target, request.message), request);
      const reply = request.message.taskId === undefined && target.executor.replyDirectly?.(request.message, call);
      if (reply) return { reply };
      await target.executor.checkRequest?.(request, call);
      return undefined;
    } catch (error) {
      const known = key !== undefined && (await this.executions.findRepeated(target, sent, call, key));
      if (known) return { execution: known };
      throw error;
    }
  }

  /** Returns the agent for a Message: a Message to the service goes to the workflow that the Message names. */
  private async resolveTarget(
    agent: ServedAgent,
    request: SendMessageRequest,
    { scope }: CallContext,
  ): Promise<ServedAgent> {
    if (agent.path !== '') return agent;
    return this.catalog.inTenant(scope.tenant).routeMessage(agent, ...skillOf(request));
  }

  private async continueTask(
    agent: ServedAgent,
    taskId: string,
    request: SendMessageRequest,
    made: CallContext,
  ): Promise<AcceptedMessage> {
    const at = await tenantAgent(this.catalog, agent, request, made);
    const header = await this.tasks.readHeader(taskId, made.scope);
    if (!header || !isAddressableAt(at, header)) throw notFoundAt(at, taskId);
    const { contextId } = request.message;
    if (contextId !== undefined && contextId !== header.contextId) {
      throw invalidParams({ field: 'message.contextId', description: 'is not the context of the task' });
    }
    const key = idempotencyKeyOf(request, made);
    // Under a key this Message may be a repetition of the Message that ended the Task.
    if (key === undefined && isTerminalState(header.state)) {
      throw new A2AError('UNSUPPORTED_OPERATION', {
        message: `The task has ended (${header.state}) and takes no further messages`,
        metadata: { taskId, state: header.state },
      });
    }
    const target = await ownerOf(this.catalog, this.tasks, agent, header);
    const call = callToAgent(made, target);
    const checked = await this.checkMessage(target, request, call, key);
    if (checked) return checked;
    if (key === undefined) return { execution: await this.executions.resumeExecution(target, taskId, request, call) };
    return { execution: await this.executions.resumeOnce(target, taskId, request, call, key) };
  }
}

/**
 * Returns the agent with the `inputModes` that apply to a Message. If the Message begins a Task, these are the agent's
 * `beginModes`, if it has any.
 */
async function beginningAt(agent: ServedAgent, { taskId, parts }: Message): Promise<ServedAgent> {
  const modes = taskId === undefined ? await agent.beginModes?.(parts) : undefined;
  return modes ? { ...agent, inputModes: [...modes] } : agent;
}

/** True if a Task is addressable at an agent's base URL: the agent is the Task's own agent, or the service. */
export function isAddressableAt(agent: ServedAgent, header: TaskHeader): boolean {
  return agent.path === '' || agent.path === header.agent;
}

/**
 * Returns the agent that a Task belongs to, in the revision that accepted the Task. The Task's log records this
 * revision. For a deleted agent, returns a placeholder that has only its existing Tasks.
 */
export async function ownerOf(
  catalog: AgentCatalog,
  tasks: Pick<TaskStore, 'readEvents'>,
  agent: ServedAgent,
  header: TaskHeader,
): Promise<ServedAgent> {
  const revision = await acceptedRevision(tasks, header.taskId);
  if (header.agent === agent.path && (revision === undefined || revision === agent.version)) return agent;
  const resolveOwner = (): Promise<ServedAgent> => catalog.inTenant(header.tenant).resolveAgent(header.agent, revision);
  return agentOrGone(resolveOwner, header.agent, revision);
}

/** Returns the error TASK_NOT_FOUND; for a deleted agent, returns the error about the deletion (`gone`) instead. */
export function notFoundAt({ gone }: ServedAgent, taskId: string): Error {
  return gone ?? taskNotFound(taskId);
}

function taskNotFound(taskId: string): A2AError {
  return new A2AError('TASK_NOT_FOUND', { metadata: { taskId } });
}

/**
 * Returns the workflow that a Message to the service names in `message.metadata.skillId`, else in the request's
 * `tenant`. In the second case also returns the name of the field, `tenant`.
 */
function skillOf({ message, tenant }: SendMessageRequest): [skill: string | undefined, field?: string] {
  const skill = message.metadata?.skillId;
  if (skill === undefined || skill === null) return tenant ? [tenant, 'tenant'] : [undefined];
  if (typeof skill !== 'string')
    throw invalidParams({ field: 'message.metadata.skillId', description: 'must be a string' });
  return [skill];
}

/**
 * Replaces an empty Message at the alias of a node by an instruction to execute the node: `order` of its executor, else
 * `Execute node <name>`. Messages to other base URLs, with data or files, or to agents that read no text, stay as sent.
 * @param addressed agent path that the Message was sent to
 */
function withNodeOrder(addressed: string, agent: ServedAgent, request: SendMessageRequest): SendMessageRequest {
  if (!addressed.startsWith('nodes/') || !readsText(agent)) return request;
  const { message } = request;
  if (message.parts.some(({ text }) => text !== '')) return request;
  const order = agent.executor.order ?? `Execute node ${addressed.slice('nodes/'.length)}`;
  return { ...request, message: { ...message, parts: [textPart(order)] } };
}
