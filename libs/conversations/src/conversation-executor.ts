import { randomUUID } from 'node:crypto';
import {
  AgentExecutor,
  type CallContext,
  hopMetadata,
  hopsOf,
  type RequestContext,
  UnknownAgent,
} from '#libs/executor';
import { A2AError, type JsonObject, type SendMessageRequest, submittedTask } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { ConversationSettings } from './conversation.js';
import { settingsMetadata } from './conversation-metadata.js';
import { ConversationRun } from './conversation-run.js';
import type { ConversationServices } from './conversation-services.js';
import { ConversationState } from './conversation-state.js';

/**
 * What a Message asks a conversation to be about.
 * @throws A2AError INVALID_PARAMS naming the fields
 */
export type SettingsOf = (request: Pick<SendMessageRequest, 'message'>) => ConversationSettings;

/**
 * A bounded talk of two agents as an agent: its Task is the conversation, and the events of the `a2a` stream are events
 * of the Task. A restarted conversation goes on from its log; no turn is asked for twice under another messageId.
 */
export class ConversationExecutor extends AgentExecutor {
  override readonly recovery = 'restart';
  /** Time for the speaker's Task to be canceled. */
  override readonly cancelGrace = 10_000;

  constructor(
    private readonly services: ConversationServices,
    private readonly settingsOf: SettingsOf,
  ) {
    super();
  }

  /** Row A1: random in all its digits. */
  override newTaskId(): string {
    return randomUUID();
  }

  override taskMetadata(request: SendMessageRequest): JsonObject {
    return { ...settingsMetadata(this.settingsOf(request)), ...hopMetadata(hopsOf(request)) };
  }

  override async check(request: SendMessageRequest, { scope }: CallContext): Promise<void> {
    if (request.message.taskId !== undefined) return;
    await this.refuseUnknownAgents(this.settingsOf(request), scope.tenant);
  }

  override async *execute(context: RequestContext): AsyncIterable<TaskEvent> {
    const log = isNew(context) ? [this.opening(context)] : await context.log();
    const { settings } = ConversationState.of(context.taskId, log);
    const state = ConversationState.of(context.taskId, log, await this.isSelf(settings, context.call.scope.tenant));
    yield* new ConversationRun(this.services, context, state).events();
  }

  /** A new conversation's log needs no reading: it is its first Message. */
  private opening(context: RequestContext): TaskEvent {
    const { userMessage: message, metadata } = context;
    return { task: submittedTask(context, message, this.taskMetadata({ message, ...(metadata && { metadata }) })) };
  }

  private async refuseUnknownAgents(settings: ConversationSettings, tenant: string): Promise<void> {
    const { requester, target, announce } = settings;
    const given = Object.entries({ requester, target, announce });
    const problems = await Promise.all(given.map(([field, reference]) => this.problemOf(field, reference, tenant)));
    const violations = problems.filter((it) => it !== undefined);
    if (violations.length === 0) return;
    const message = violations.map(({ field, description }) => `${field}: ${description}`).join('; ');
    throw new A2AError('INVALID_PARAMS', { message, violations, status: 422 });
  }

  private async problemOf(field: string, reference: string | undefined, tenant: string) {
    try {
      if (reference !== undefined) await this.services.references.resolve(reference, tenant);
      return undefined;
    } catch (error) {
      if (error instanceof UnknownAgent) return { field, description: error.message };
      throw error;
    }
  }

  /** Whether both sides are the same agent (row A22). */
  private async isSelf({ requester, target }: ConversationSettings, tenant: string): Promise<boolean> {
    if (requester === undefined || requester === target) return requester !== undefined;
    const addresses = [requester, target].map((it) => this.services.references.resolve(it, tenant).catch(() => it));
    const [first, second] = await Promise.all(addresses);
    return first === second;
  }
}

function isNew(context: RequestContext): boolean {
  return context.task === null && context.recovered === 0;
}
