import { Injectable } from '@nestjs/common';
import type { ApiCall } from '#libs/access';
import { CONVERSATIONS_PATH } from '#libs/agents';
import {
  endedProcessError,
  Processes,
  type ProcessEvents,
  type ProcessKind,
  type ProcessListing,
  unknownProcess,
} from '#libs/durable';
import type { SseFrame } from '#libs/http-server';
import { type LogAdmission, type StoredTask, TaskFeed, type TaskScope } from '#libs/tasks';
import { a2aEvent, type A2aEvent } from '../a2a-event.js';
import { type CommandKind, ConversationCommands } from '../conversation-command.js';
import { ConversationState, readSettings } from '../conversation-state.js';
import {
  type ConversationStatus,
  conversationSummary,
  type ConversationView,
  conversationView,
  finalOutcome,
  statesOf,
} from '../conversation-view.js';
import { ConversationWaking } from './conversation-waking.js';
import type { ConversationBody, ConversationPage, ConversationQuery, ConversationSummary } from './conversation.dto.js';

/**
 * Kind of process: conversations. `includes` accepts every Task, since the Task of a conversation in a workflow
 * belongs to another agent than `conversations`; `findConversation` then checks the Task's metadata.
 */
const CONVERSATION: ProcessKind = { noun: 'conversation', includes: () => true };

/**
 * Rules by which `Processes.listPage` finds the Tasks that are conversations and were started directly, filters them by
 * status, and summarizes each. Conversations of workflow nodes are not listed.
 */
const LISTING: ProcessListing<ConversationStatus, ConversationSummary> = {
  agent: CONVERSATIONS_PATH,
  states: { active: statesOf('active'), complete: statesOf('complete') },
  summary: conversationSummary,
};

/**
 * Starts, shows and controls conversations. Each is a Task of the `conversations` agent; only its commands and its
 * budget are stored outside the Task's log.
 */
@Injectable()
export class Conversations {
  constructor(
    private readonly processes: Processes,
    private readonly feed: TaskFeed,
    private readonly commands: ConversationCommands,
    private readonly waking: ConversationWaking,
  ) {}

  /**
   * Starts a conversation and resolves with its id when it is durable. The conversation continues if the caller
   * disconnects.
   * @throws A2AError 422 for unknown agents, 409 if the `Idempotency-Key` was used for another body
   */
  startConversation({ sent }: ConversationBody, call: ApiCall, idempotencyKey?: string): Promise<string> {
    return this.processes.startProcess({ agent: CONVERSATIONS_PATH, data: sent }, call, idempotencyKey);
  }

  /** Lists conversations, most recently updated first. */
  async listConversations(query: ConversationQuery, call: ApiCall): Promise<ConversationPage> {
    const { found, nextPageToken } = await this.processes.listPage(LISTING, query, call);
    return { conversations: found, nextPageToken };
  }

  /**
   * Returns a conversation with its Task as it was at the start.
   * @throws ProblemError 404
   */
  async findConversation(conversationId: string, scope: TaskScope): Promise<StoredTask> {
    const found = await this.processes.loadBegun(CONVERSATION, conversationId, scope);
    if (!readSettings(found.task.metadata)) throw unknownProcess(CONVERSATION);
    return found;
  }

  /** Returns a conversation with its turns. @throws ProblemError 404 */
  showConversation(conversationId: string, call: ApiCall): Promise<ConversationView> {
    return this.loadView(conversationId, call.scope, this.processes.openRoom(call));
  }

  /**
   * Returns access to the events of a conversation up to the complete event: `last`, the number (`cseq`) of the last
   * event so far, and `framesAfter`, a function that reads the later events as SSE frames.
   * @throws ProblemError 404
   */
  async findEvents(conversationId: string, call: ApiCall): Promise<ProcessEvents> {
    const conversation = await this.findConversation(conversationId, call.scope);
    using room = this.processes.openRoom(call);
    const state = ConversationState.fromLog(conversationId, await this.processes.readLog(conversation.header, room));
    return {
      last: state.dialogue.emitted.length + (state.cut ? 1 : 0),
      framesAfter: (number, signal) => this.readFramesAfter(number, conversation, signal),
    };
  }

  /**
   * Cancels a conversation and the Task of its active agent. A repeated cancel returns the same.
   * @throws ProblemError 404; 409 if the conversation has ended with another outcome
   */
  async cancelConversation(conversationId: string, call: ApiCall): Promise<ConversationView> {
    await this.processes.cancelProcess(await this.findConversation(conversationId, call.scope), call);
    const view = await this.showConversation(conversationId, call);
    if (view.outcome !== 'canceled') throw endedProcessError(CONVERSATION, `${view.outcome}`);
    return view;
  }

  /**
   * Adds a command, which the executing replica handles before the next turn. Resolves when the command is durable.
   * @throws ProblemError 404; 409 if the conversation has ended
   */
  async addCommand(conversationId: string, kind: CommandKind, call: ApiCall, text?: string): Promise<void> {
    await this.assertOpen(conversationId, call);
    const number = await this.commands.add(conversationId, { kind, ...(text !== undefined && { text }) });
    // An active conversation reads the command before its next turn. A conversation that is about to wait checks for
    // commands once more (ConversationWaking).
    if (kind !== 'pause') await this.waking.wakeFor(number, conversationId, call);
  }

  /** Asserts that a conversation has not ended. @throws ProblemError 404; 409 if the conversation has ended */
  private async assertOpen(conversationId: string, call: ApiCall): Promise<void> {
    using room = this.processes.openRoom(call);
    const { status, outcome } = await this.loadView(conversationId, call.scope, room);
    if (status === 'complete') throw endedProcessError(CONVERSATION, `${outcome}`);
  }

  private async loadView(conversationId: string, scope: TaskScope, room: LogAdmission): Promise<ConversationView> {
    const { header } = await this.findConversation(conversationId, scope);
    return conversationView(header, await this.processes.readLog(header, room));
  }

  private async *readFramesAfter(
    number: number,
    conversation: StoredTask,
    signal: AbortSignal,
  ): AsyncGenerator<SseFrame> {
    for await (const event of this.followEmitted(conversation, signal)) {
      const { cseq: conversationSequence } = event;
      if (conversationSequence > number) yield { id: conversationSequence, event: 'a2a', data: JSON.stringify(event) };
    }
  }

  /**
   * Yields the `a2a` events of a conversation. It reads the log from the start, since the number of an event depends on
   * all earlier events.
   */
  private async *followEmitted({ header, task }: StoredTask, signal: AbortSignal): AsyncGenerator<A2aEvent> {
    const settings = readSettings(task.metadata);
    if (!settings) return;
    const state = new ConversationState(header.taskId, settings, false);
    for await (const { event } of this.feed.followTask(header.taskId, 0, { signal })) {
      const emitted = state.apply(event);
      if (emitted) yield emitted;
      if (state.cut)
        yield a2aEvent(state.dialogue.draftEnd(finalOutcome(state)), state.dialogue.emitted, state.changedAt);
      if (state.cut || state.dialogue.outcome !== undefined) return;
    }
  }
}
