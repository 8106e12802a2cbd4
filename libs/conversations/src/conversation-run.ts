import { Logger } from '@nestjs/common';
import type { AgentCall } from '#libs/agent-calls';
import { type RequestContext, TaskCanceled } from '#libs/executor';
import { throughOutage } from '#libs/postgres';
import { type JsonObject, statusUpdate, streamEventMetadata, type TaskState } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import { a2aEvent, type A2aDraft } from './a2a-event.js';
import type { Reply } from './conversation.js';
import { ConversationCalls } from './conversation-calls.js';
import type { ConversationCommand } from './conversation-command.js';
import { endingEvents } from './conversation-ending.js';
import { type CallName, type ConversationStep, stepMetadata } from './conversation-metadata.js';
import type { ConversationServices } from './conversation-services.js';
import { type ConversationState, sessionAfter } from './conversation-state.js';
import type { PendingTurn } from './dialogue.js';
import { ANNOUNCE_SKIP, isToken } from './reply-text.js';
import { replyOf } from './turn-failure.js';
import { wakeJob } from './wake-job.js';

/**
 * One execution of a conversation, or of the rest of one. What is to do next follows from the folded log alone, whether
 * this process wrote it or another.
 */
export class ConversationRun {
  private readonly logger = new Logger(ConversationRun.name);
  private readonly calls: ConversationCalls;

  constructor(
    private readonly services: ConversationServices,
    private readonly context: RequestContext,
    private readonly state: ConversationState,
  ) {
    this.calls = new ConversationCalls(services, context, state);
  }

  async *events(): AsyncGenerator<TaskEvent> {
    try {
      yield* this.converse();
      if (this.state.dialogue.outcome !== undefined) yield* this.conclude();
    } catch (error) {
      if (this.context.signal.reason instanceof TaskCanceled) return yield* this.cancel();
      this.context.signal.throwIfAborted();
      this.logger.error({ err: error, conversationId: this.context.taskId }, 'A conversation failed');
      yield* this.break();
    }
  }

  private async *converse(): AsyncGenerator<TaskEvent> {
    const { dialogue } = this.state;
    yield* this.open();
    while (dialogue.outcome === undefined) {
      this.context.signal.throwIfAborted();
      yield* this.obey();
      const pending = dialogue.pending();
      if (pending === undefined) yield* this.complete();
      else if (this.state.injection !== undefined)
        yield this.tell(dialogue.answered(pending, { text: this.state.injection }));
      else if (this.state.paused) return yield this.wait();
      else yield* this.ask(pending);
    }
  }

  private *open(): Generator<TaskEvent> {
    const opening = this.state.dialogue.opening();
    if (opening) yield this.tell(opening);
  }

  private *complete(): Generator<TaskEvent> {
    const { dialogue } = this.state;
    if (dialogue.outcome === undefined) yield this.tell(dialogue.completed());
  }

  /** What was told is durable before the next speaker hears of it (row A17). */
  private async *ask(pending: PendingTurn): AsyncGenerator<TaskEvent> {
    const call = await this.calls.turn(pending);
    const reply = yield* this.heard(pending.turn, call);
    const session = sessionAfter(this.state.sessions[pending.speaker], call.answer);
    yield this.tell(this.state.dialogue.answered(pending, reply), { call: pending.turn, ...session });
  }

  /** Notes the Task of a call as soon as it is seen. */
  private async *heard(name: CallName, call: AgentCall): AsyncGenerator<TaskEvent, Reply, undefined> {
    for await (const { seen } of call.run()) {
      if (seen?.first) yield this.step({ call: name, taskId: seen.taskId });
    }
    return replyOf(call.outcome, this.state.settings.timeoutMs);
  }

  private async *obey(): AsyncGenerator<TaskEvent> {
    const { context, state, services } = this;
    const read = () => services.commands.after(context.taskId, state.command);
    const commands = await throughOutage(read, context.signal);
    for (const command of commands) yield this.carryOut(command);
  }

  private carryOut({ kind, number: command, text = '' }: ConversationCommand): TaskEvent {
    const { dialogue } = this.state;
    const pending = dialogue.pending();
    if (kind === 'stop' && dialogue.outcome === undefined) return this.tell(dialogue.completed('done'), { command });
    if (kind === 'inject' && pending) return this.tell(dialogue.answered(pending, { text }), { command });
    if (kind === 'pause' || kind === 'resume') return this.step({ command, paused: kind === 'pause' });
    return this.step({ command });
  }

  /**
   * The Task waits, so that no replica holds it and whoever gets the next command goes on with it. A command that came
   * before this is durable, and was not seen here, is found by the job of the same commit.
   */
  private wait(): TaskEvent {
    const waiting = statusUpdate(this.context, 'TASK_STATE_INPUT_REQUIRED', 'The conversation is paused.');
    return this.record({ ...waiting, jobs: [wakeJob(this.context.taskId, this.state.command)] });
  }

  /** The announcement comes after the end and is told nowhere (rows A13, A14, A24); its failure changes nothing. */
  private async *conclude(): AsyncGenerator<TaskEvent> {
    const { state } = this;
    if (state.settings.announce !== undefined && state.announcement === undefined) {
      const call = await this.calls.announcement(state.settings.announce, state.dialogue.lastText);
      const reply = yield* this.heard('announce', call);
      const silenced = 'text' in reply && isToken(reply.text, ANNOUNCE_SKIP);
      yield this.step({ announcement: 'failure' in reply ? 'failed' : silenced ? 'silenced' : 'delivered' });
    }
    for (const event of endingEvents(this.context, state.dialogue)) yield this.record(event);
  }

  private async *cancel(): AsyncGenerator<TaskEvent> {
    const { dialogue } = this.state;
    await this.calls.cancel();
    if (dialogue.outcome === undefined) {
      yield* this.open();
      yield this.tell(dialogue.completed('canceled'));
    }
    for (const event of endingEvents(this.context, dialogue)) yield this.record(event);
  }

  /** A fault of ours ends like one of an agent: with an error and the end. */
  private *break(): Generator<TaskEvent> {
    const { dialogue } = this.state;
    yield* this.open();
    const pending = dialogue.pending();
    const failure = { code: 'INTERNAL', message: 'internal error', retryable: false };
    if (pending) yield this.tell(dialogue.answered(pending, { failure }));
    yield* this.complete();
    for (const event of endingEvents(this.context, dialogue)) yield this.record(event);
  }

  private tell(draft: A2aDraft, step: ConversationStep = {}): TaskEvent {
    const event = a2aEvent(draft, this.state.dialogue.told, Date.now());
    return this.working({ ...streamEventMetadata(event), ...stepMetadata(step) });
  }

  private step(step: ConversationStep): TaskEvent {
    return this.working(stepMetadata(step));
  }

  private working(metadata: JsonObject): TaskEvent {
    const state: TaskState = 'TASK_STATE_WORKING';
    return this.record(statusUpdate(this.context, state, undefined, metadata));
  }

  private record(event: TaskEvent): TaskEvent {
    this.state.apply(event);
    return event;
  }
}
