import { Logger } from '@nestjs/common';
import type { CalledTask } from '#libs/a2a-client';
import {
  type AgentCall,
  DurableExecution,
  needsPerson,
  type ProcessStart,
  questionMessage,
  questionParts,
  type Steps,
  withDelay,
} from '#libs/durable';
import { retryWhileDatabaseDown } from '#libs/postgres';
import {
  agentMessage,
  artifactUpdate,
  dataPart,
  type JsonObject,
  type Message,
  randomId,
  statusUpdate,
  streamEventMetadata,
  type TaskReference,
  type TaskState,
  textPart,
} from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import { type A2aDraft, a2aEvent } from './a2a-event.js';
import { ConversationCalls, type ConversationServices } from './conversation-calls.js';
import { type ConversationCommand, wakeJob } from './conversation-command.js';
import {
  type Announcement,
  type AskedQuestion,
  type CallName,
  type ConversationState,
  type ConversationStep,
  sessionAfter,
  stepMetadata,
} from './conversation-state.js';
import { type ConversationOutcome, sideName, type TurnReply } from './conversation.js';
import type { Dialogue, PendingTurn } from './dialogue.js';
import { ANNOUNCE_SKIP, isToken, replyOf } from './turn-reply.js';

/** Name and id of the only Artifact: the last text, and a data Part with the outcome and the turns. */
const RESULT = 'conversation';

/**
 * Returns the events that end a conversation's Task, after its complete event: the result unless it was canceled, then
 * the final state.
 */
function endingEvents(reference: TaskReference, dialogue: Dialogue): TaskEvent[] {
  const { outcome = 'error', error } = dialogue;
  if (outcome === 'canceled') return [statusUpdate(reference, 'TASK_STATE_CANCELED')];
  const result = artifactUpdate(reference, { artifactId: RESULT, name: RESULT, parts: resultParts(dialogue, outcome) });
  if (outcome === 'error' || outcome === 'timeout') {
    const said = error ? `turn ${error.turn}: ${error.message}` : 'the conversation failed';
    return [result, statusUpdate(reference, 'TASK_STATE_FAILED', said)];
  }
  return [result, statusUpdate(reference, 'TASK_STATE_COMPLETED', dialogue.lastText)];
}

function resultParts({ lastText, turns }: Dialogue, outcome: ConversationOutcome) {
  const said = turns.map(({ turn, fromAgent, toAgent, text }) => ({ turn, fromAgent, toAgent, text }));
  return [textPart(lastText), dataPart({ outcome, turns: said as unknown as JsonObject[] })];
}

/** Executes a conversation from its start, or resumes it from its log. */
export class ConversationRun extends DurableExecution<ConversationState> {
  private readonly logger = new Logger(ConversationRun.name);
  protected override readonly calls: ConversationCalls;

  constructor(
    private readonly services: ConversationServices,
    start: ProcessStart,
    state: ConversationState,
  ) {
    super(start.context, state);
    this.calls = new ConversationCalls(services, start, state);
  }

  /** Runs the next step: the first text, then turn after turn, then the announcement, then the end of the Task. */
  protected override next(): Steps {
    const { dialogue, settings, announcement } = this.state;
    if (dialogue.draftOpening()) return this.emitOpening();
    if (dialogue.outcome === undefined) return this.continueDialogue();
    if (settings.announce !== undefined && announcement === undefined) return this.announceEnd(settings.announce);
    return this.endConversation();
  }

  protected override async *endCanceled(): AsyncGenerator<TaskEvent> {
    await this.calls.cancelCalls();
    yield* this.emitOpening();
    yield* this.endConversation('canceled');
  }

  protected override endCalls(): Promise<void> {
    return this.calls.cancelCalls();
  }

  /**
   * Ends the conversation after an internal fault, as after the failure of an agent: with an error event, then the
   * complete event.
   */
  protected override async *endFailed(error: unknown): AsyncGenerator<TaskEvent> {
    this.logger.error({ err: error, conversationId: this.context.taskId }, 'A conversation failed');
    yield* this.emitOpening();
    const pending = this.state.dialogue.findPending();
    const failure = { code: 'INTERNAL', message: 'internal error', retryable: false };
    if (pending) yield this.emitDraft(this.state.dialogue.draftReply(pending, { failure }));
    yield* this.endConversation();
  }

  private *emitOpening(): Generator<TaskEvent> {
    const opening = this.state.dialogue.draftOpening();
    if (opening) yield this.emitDraft(opening);
  }

  /** Executes the callers' commands, then the next turn. */
  private async *continueDialogue(): AsyncGenerator<TaskEvent> {
    const { context, state, services } = this;
    const { dialogue } = state;
    const readCommands = () => services.commands.listAfter(context.taskId, state.command);
    for (const command of await retryWhileDatabaseDown(readCommands, context.signal)) {
      if (command.kind === 'inject') await this.calls.cancelAsked();
      yield this.applyCommand(command);
    }
    if (dialogue.outcome !== undefined) return;
    const pending = dialogue.findPending();
    if (pending === undefined) yield this.emitDraft(dialogue.draftEnd());
    else if (state.injection !== undefined)
      yield this.emitDraft(dialogue.draftReply(pending, { text: state.injection }));
    else if (state.asked && state.isAsking) yield this.repeatQuestion(state.asked);
    else if (state.paused) yield this.waitPaused();
    else yield* this.askSpeaker(pending);
  }

  private async *askSpeaker(pending: PendingTurn): AsyncGenerator<TaskEvent> {
    const call = await this.calls.openTurn(pending);
    const reply = yield* this.followCall(pending.turn, call);
    if (this.isForPerson(call)) return yield this.askPerson(pending, call.answer);
    const session = sessionAfter(this.state.sessions[pending.speaker], call.answer);
    yield this.emitDraft(this.state.dialogue.draftReply(pending, reply), { call: pending.turn, ...session });
  }

  /** Runs a call to its end and returns the reply. Records the id of the agent's Task as soon as it is known. */
  private async *followCall(name: CallName, call: AgentCall): AsyncGenerator<TaskEvent, TurnReply, undefined> {
    for await (const update of withDelay(call)) {
      if ('delay' in update) yield this.reportDelay(update.delay);
      else if (update.seen?.first) yield this.recordNote({ call: name, taskId: update.seen.taskId });
    }
    this.calls.close(name);
    return replyOf(call.outcome, this.state.settings.timeoutMs);
  }

  /** Shows why an agent does not answer yet, in the status of the conversation's Task. */
  private reportDelay(reason: string): TaskEvent {
    return this.recordEvent(statusUpdate(this.context, 'TASK_STATE_WORKING', [textPart(reason)]));
  }

  /**
   * True if the question of an agent is one that a person must answer. Any other question is a text for the other
   * side. A request to log in is for a person only if a tool started the conversation.
   */
  private isForPerson({ outcome, answer }: AgentCall): boolean {
    if (outcome.kind !== 'waiting' || answer.taskId === undefined || !needsPerson(answer)) return false;
    return answer.state !== 'TASK_STATE_AUTH_REQUIRED' || this.state.settings.origin !== undefined;
  }

  private askPerson({ turn, speaker }: PendingTurn, answer: CalledTask): TaskEvent {
    const words = questionParts(sideName(speaker, this.state.settings), answer);
    const message = questionMessage(this.context, words, { about: 'agent', call: `${turn}` }, answer.status?.message);
    const { taskId, contextId, state = 'TASK_STATE_INPUT_REQUIRED' } = answer;
    const ids = { ...(taskId !== undefined && { taskId }), ...(contextId !== undefined && { contextId }) };
    return this.waitWith(state, message, { call: turn, ...ids, asks: true });
  }

  /** Asks the person the open question once more, after a command that did not answer it. */
  private repeatQuestion({ turn, taskId, contextId, state, message }: AskedQuestion): TaskEvent {
    const ids = { taskId, ...(contextId !== undefined && { contextId }) };
    return this.waitWith(state, message && { ...message, messageId: randomId() }, { call: turn, ...ids, asks: true });
  }

  private applyCommand({ kind, number: command, text = '' }: ConversationCommand): TaskEvent {
    const { dialogue } = this.state;
    const pending = dialogue.findPending();
    if (kind === 'stop' && dialogue.outcome === undefined)
      return this.emitDraft(dialogue.draftEnd('done'), { command });
    if (kind === 'inject' && pending) return this.emitDraft(dialogue.draftReply(pending, { text }), { command });
    if (kind === 'pause' || kind === 'resume') return this.recordNote({ command, paused: kind === 'pause' });
    return this.recordNote({ command });
  }

  /**
   * Makes the Task wait: no replica then executes it, and the next command resumes it. The commit also enqueues a
   * wake job, which handles a command that became durable after the last check for commands.
   */
  private waitPaused(): TaskEvent {
    return this.waitWith('TASK_STATE_INPUT_REQUIRED', agentMessage(this.context, 'The conversation is paused.'));
  }

  private waitWith(state: TaskState, message?: Message, step?: ConversationStep): TaskEvent {
    const waiting = statusUpdate(this.context, state, undefined, step && stepMetadata(step));
    if (message) waiting.statusUpdate.status.message = message;
    return this.recordEvent({ ...waiting, jobs: [wakeJob(this.context.taskId, this.state.command)] });
  }

  /**
   * Calls the announcer after the end. The announcement is not an event of the `a2a` stream, and its failure does not
   * change the outcome.
   */
  private async *announceEnd(agent: string): AsyncGenerator<TaskEvent> {
    const call = await this.calls.openAnnouncement(agent);
    const reply = yield* this.followCall('announce', call);
    const isAsking = call.outcome.kind === 'waiting';
    // The cancel precedes the record, so that a crash between the two leaves no waiting Task.
    if (isAsking) await this.calls.cancelAnnouncement(agent, call.taskId);
    yield this.recordNote({ announcement: isAsking ? 'failed' : announcementOf(reply) });
  }

  /**
   * Ends the conversation and its Task. Cancels the agents' Tasks that still wait for a next Message.
   * @param outcome outcome of the conversation; absent: the outcome that follows from the events of the conversation
   */
  private async *endConversation(outcome?: ConversationOutcome): AsyncGenerator<TaskEvent> {
    const { dialogue } = this.state;
    if (dialogue.outcome === undefined) yield this.emitDraft(dialogue.draftEnd(outcome));
    if (dialogue.outcome !== 'canceled') await this.calls.cancelWaiting();
    for (const event of endingEvents(this.context, dialogue)) yield this.recordEvent(event);
  }

  /**
   * Returns the event to record for a draft, and marks the call that comes next as new (see
   * `ConversationCalls.announceNext`). The event is durable before the next agent is called.
   * @param step further change of the conversation's state, recorded with the event
   */
  private emitDraft(draft: A2aDraft, step: ConversationStep = {}): TaskEvent {
    const event = a2aEvent(draft, this.state.dialogue.emitted, Date.now());
    const emitted = this.recordMetadata({ ...streamEventMetadata(event), ...stepMetadata(step) });
    this.calls.announceNext();
    return emitted;
  }

  private recordNote(step: ConversationStep): TaskEvent {
    return this.recordMetadata(stepMetadata(step));
  }
}

function announcementOf(reply: TurnReply): Announcement {
  if ('failure' in reply) return 'failed';
  return isToken(reply.text, ANNOUNCE_SKIP) ? 'silenced' : 'delivered';
}
