import { randomUUID } from 'node:crypto';
import { type CallContext, UnknownAgent } from '#libs/executor';
import { ProcessExecutor, type ProcessStart } from '#libs/process';
import { A2AError, type JsonObject, type SendMessageRequest } from '#libs/protocol';
import type { ConversationSettings } from './conversation.js';
import { settingsMetadata } from './conversation-metadata.js';
import { ConversationRun } from './conversation-run.js';
import type { ConversationServices } from './conversation-services.js';
import { ConversationState, settingsIn } from './conversation-state.js';

/**
 * What a Message asks a conversation to be about.
 * @throws A2AError INVALID_PARAMS naming the fields
 */
export type SettingsOf = (request: Pick<SendMessageRequest, 'message'>) => ConversationSettings;

/**
 * A bounded talk of two agents as an agent: its Task is the conversation, and the events of the `a2a` stream are events
 * of the Task. No turn is asked for twice under another messageId.
 */
export class ConversationExecutor extends ProcessExecutor {
  constructor(
    private readonly services: ConversationServices,
    private readonly settingsOf: SettingsOf,
  ) {
    super();
  }

  /** Random in all its digits: it is the conversation's id. */
  override newTaskId(): string {
    return randomUUID();
  }

  override async check(request: SendMessageRequest, { scope }: CallContext): Promise<void> {
    if (request.message.taskId !== undefined) return;
    await this.refuseUnknownAgents(this.settingsOf(request), scope.tenant);
  }

  protected override about(request: SendMessageRequest): JsonObject {
    return settingsMetadata(this.settingsOf(request));
  }

  protected override async begin(start: ProcessStart): Promise<ConversationRun> {
    const { context, log } = start;
    const self = await this.isSelf(settingsIn(log), context.call.scope.tenant);
    return new ConversationRun(this.services, start, ConversationState.of(context.taskId, log, self));
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

  /** Whether both sides are the same agent: there is no loop then. */
  private async isSelf({ requester, target }: ConversationSettings, tenant: string): Promise<boolean> {
    if (requester === undefined || requester === target) return requester !== undefined;
    const addresses = [requester, target].map((it) => this.services.references.resolve(it, tenant).catch(() => it));
    const [first, second] = await Promise.all(addresses);
    return first === second;
  }
}
