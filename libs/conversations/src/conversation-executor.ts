import { randomUUID } from 'node:crypto';
import type { AcceptingCall, CallContext, SaidText } from '#libs/executor';
import { retryWhileDatabaseDown } from '#libs/postgres';
import { ProcessExecutor, type ProcessStart } from '#libs/process';
import type { JsonObject, SendMessageRequest } from '#libs/protocol';
import type { ConversationSettings } from './conversation.js';
import { settingsMetadata } from './conversation-metadata.js';
import { ConversationRun } from './conversation-run.js';
import type { ConversationServices } from './conversation-services.js';
import { conversationSpanSteps } from './conversation-spans.js';
import { ConversationState, settingsIn } from './conversation-state.js';
import { TalkEntries } from './talk-entry.js';

/**
 * Reads the settings of a conversation from a Message.
 * @throws A2AError INVALID_PARAMS naming the fields
 */
export type SettingsOf = (request: Pick<SendMessageRequest, 'message'>) => ConversationSettings;

/**
 * Bounded conversation of two agents as an agent. Its Task is the conversation, and the events of the `a2a` stream are
 * events of the Task. No turn is requested under a second messageId.
 */
export class ConversationExecutor extends ProcessExecutor {
  override readonly spanSteps = conversationSpanSteps;
  private readonly talks: TalkEntries;

  constructor(
    private readonly services: ConversationServices,
    private readonly settingsOf: SettingsOf,
  ) {
    super();
    this.talks = new TalkEntries(services.chains);
  }

  /** Returns a random id in all its digits, since it is the conversation's id. */
  override newTaskId(): string {
    return randomUUID();
  }

  override async checkRequest(request: SendMessageRequest, call: CallContext): Promise<void> {
    if (request.message.taskId !== undefined) return;
    const { requester, target, announce } = this.settingsOf(request);
    const own = ['requester', requester, this.revisionOf(request, call)] as const;
    await this.services.references.refuseUnknown([own, ...Object.entries({ target, announce })], call.scope.tenant);
  }

  protected override describeRequest(request: SendMessageRequest, call: AcceptingCall): JsonObject {
    const origin = this.talks.readEntry(request.message, call.scope)?.origin;
    const requesterRevision = this.revisionOf(request, call);
    return settingsMetadata({
      ...this.settingsOf(request),
      ...(origin && { origin }),
      ...(requesterRevision !== undefined && { requesterRevision }),
    });
  }

  /**
   * Returns the requester's revision. Only calls of this service may set it: another caller could replay the signed
   * Message.
   */
  private revisionOf({ message }: SendMessageRequest, call: AcceptingCall): string | undefined {
    if (call.parent === undefined && call.revisionClaim === undefined) return undefined;
    return this.talks.readEntry(message, call.scope)?.revision;
  }

  protected override async beginProcess(start: ProcessStart): Promise<ConversationRun> {
    const { context, log } = start;
    const { requester, target } = settingsIn(log);
    const areSame = () => this.services.references.areSame(requester ?? '', target, context.call.scope.tenant);
    // An agent that talks with itself has no loop.
    const self = requester !== undefined && (await retryWhileDatabaseDown(areSame, context.signal));
    const state = ConversationState.fromLog(context.taskId, log, self, this.knownBefore(start));
    return new ConversationRun(this.services, start, state);
  }

  /** Returns the texts that the requester already knows, if it started the conversation by a tool. */
  private knownBefore({ context, log: [first] }: ProcessStart): readonly SaidText[] {
    const [message] = (first && 'task' in first && first.task.history) || [];
    return (message && this.talks.readEntry(message, context.call.scope)?.before) ?? [];
  }
}
