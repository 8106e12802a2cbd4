import { randomUUID } from 'node:crypto';
import {
  type AcceptingCall,
  type CallContext,
  CONVERSATIONS_PATH,
  type SaidText,
  type ServedAgent,
  type SpanStep,
} from '#libs/agents';
import { ProcessExecutor, type ProcessStart } from '#libs/durable';
import { retryWhileDatabaseDown } from '#libs/postgres';
import { invalidParams, type JsonObject, type SendMessageRequest, streamEvent } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import { type A2aEvent, turnId } from './a2a-event.js';
import type { ConversationServices } from './conversation-calls.js';
import { requestOf, settingsOf, wholeRequestProblems } from './conversation-request.js';
import { ConversationRun } from './conversation-run.js';
import { type CallName, ConversationState, readStep, settingsIn, settingsMetadata } from './conversation-state.js';
import type { ConversationSettings } from './conversation.js';
import { TalkEntries } from './task-talks.js';

/**
 * Returns the span steps of an event of a conversation's log: a call for each turn after the first text, and for the
 * announcement.
 */
export function conversationSpanSteps(event: TaskEvent): readonly SpanStep[] {
  if (!('statusUpdate' in event)) return [];
  const { taskId, metadata } = event.statusUpdate;
  const { call, command, announcement } = readStep(event);
  const emitted = streamEvent(metadata) as unknown as A2aEvent | undefined;
  if (emitted) return command === undefined ? turnSteps(taskId, emitted.data) : [];
  if (announcement !== undefined)
    return [
      beginSpanStep(taskId, 'announce'),
      endSpanStep('announce', announcement === 'failed' ? 'failed' : undefined),
    ];
  return call === undefined ? [] : [beginSpanStep(taskId, call)];
}

function turnSteps(taskId: string, data: A2aEvent['data']): readonly SpanStep[] {
  // The first text comes from the request.
  if (data.phase === 'complete' || data.turn === 0) return [];
  const { turn, fromAgent } = data;
  const error = data.phase === 'error' ? data.code : undefined;
  return [beginSpanStep(taskId, turn), endSpanStep(turn, error, fromAgent)];
}

/** Returns the span step that begins a call. The span starts at the time of the event before this one. */
function beginSpanStep(taskId: string, name: CallName): SpanStep {
  const key = ['call', turnId(taskId, name)];
  const attributes = {
    'gen_ai.operation.name': 'invoke_agent',
    ...(typeof name === 'number' && { 'parley.turn': name }),
  };
  return {
    begins: { slot: String(name), key, name: `invoke_agent ${name}`, kind: 'client', attributes, since: 'before' },
  };
}

function endSpanStep(name: CallName, error?: string, agent?: string): SpanStep {
  const named =
    agent === undefined ? {} : { name: `invoke_agent ${agent}`, attributes: { 'gen_ai.agent.name': agent } };
  return { ends: { slot: String(name), ...named, ...(error !== undefined && { error }) } };
}

/**
 * Reads the settings of a conversation from a Message.
 * @throws A2AError INVALID_PARAMS naming the fields
 */
export type SettingsOf = (request: Pick<SendMessageRequest, 'message'>) => ConversationSettings;

/**
 * Executes a bounded conversation of two agents as an agent. Its Task is the conversation, and the events of the `a2a`
 * stream are events of the Task. A repeated request for a turn has the same messageId.
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

  /** Returns a random UUID (version 4), since the Task's id is also the conversation's id. */
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
   * Returns the revision of the requester's workflow that the signed entry of a Message names; `undefined`: the newest.
   * The entry counts only in calls of this service, since another caller could send a copy of the signed Message.
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

  /**
   * Returns the texts that the requester knows from before the conversation. Empty unless the requester's model
   * started the conversation by a tool.
   */
  private knownBefore({ context, log: [first] }: ProcessStart): readonly SaidText[] {
    const [message] = (first && 'task' in first && first.task.history) || [];
    return (message && this.talks.readEntry(message, context.call.scope)?.before) ?? [];
  }
}

/** Returns the agent `conversations`. The data Part of a Message to it is the request for a conversation. */
export function conversationAgent(services: ConversationServices): ServedAgent {
  const name = 'conversations';
  const description = 'Lets two agents talk with each other, turn by turn, up to a limit';
  const modes = { inputModes: ['application/json', 'text/plain'], outputModes: ['text/plain', 'application/json'] };
  return {
    path: CONVERSATIONS_PATH,
    name,
    description,
    version: '1',
    skills: [{ id: 'converse', name: 'converse', description, tags: ['conversation'], ...modes }],
    ...modes,
    executor: new ConversationExecutor(services, settingsOfMessage),
  };
}

function settingsOfMessage({ message }: Pick<SendMessageRequest, 'message'>): ConversationSettings {
  const body = requestOf(message.parts);
  if (!body)
    throw invalidParams({ field: 'message.parts', description: 'must hold a data part with the conversation' });
  const problems = wholeRequestProblems(body);
  if (problems.length > 0) throw invalidParams(...problems.map(({ field, description }) => ({ field, description })));
  return settingsOf(body);
}
