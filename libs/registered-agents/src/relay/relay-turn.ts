import { setTimeout as delay } from 'node:timers/promises';
import { AgentCall, type CallOutcome, type CallProgress } from '#libs/durable';
import type { RequestContext } from '#libs/agents';
import { retryWhileUnreachable } from '#libs/postgres';
import {
  firstText,
  isIdentifier,
  isTerminalState,
  isWaitingState,
  type Message,
  type Part,
  type SendMessageRequest,
  statusUpdate,
  type TaskState,
} from '#libs/protocol';
import { Backoff } from '#libs/service';
import type { TaskEvent } from '#libs/tasks';
import { DEFAULT_WAIT_S } from '../agents/agent-policy.js';
import type { RegisteredAgent } from '../agents/registered-agents.js';
import { type CallDecision, decideAfter, failureWords, requestedPause } from './call-decision.js';
import { LimitPassage } from './limit-passage.js';
import { FAIL, lastMessage, QUESTION, RESEND } from './lost-task-question.js';
import { UnsentNote } from './unsent-note.js';
import { UnstoredIds } from './unstored-ids.js';
import type { OpenedTurn } from './opened-turn.js';
import { identityOf, type RelayServices, talkOf, toAgentRequest } from './relay-request.js';
import { QuietStream, RelayParking } from './relay-parking.js';
import type { StoredTurn } from './relay-tasks.js';
import { SentParts } from './sent-parts.js';
import { TaskMirror } from './task-mirror.js';

/** Maximum milliseconds until the first event after a Message, which may be the whole answer of the agent. */
const FIRST_EVENT_MS = 3_600_000;
/** Milliseconds of silence before a stream is opened again. */
const IDLE_MS = 120_000;
const SECOND_MS = 1_000;
/** Pauses between attempts to reach an agent. */
const BACKOFF = new Backoff(100, 5_000);
/** Pauses between attempts to get a slot at an agent. */
const ROOM_BACKOFF = new Backoff(50, 2_000, 0.5);

type Events = AsyncGenerator<TaskEvent, void, undefined>;

/**
 * Turn of a Task of a registered agent: one Message to the agent, and everything that the agent sends until its Task
 * ends or waits.
 */
export class RelayTurn {
  private readonly mirror: TaskMirror;
  /** Time of the first failed attempt since the agent's last answer; `undefined` while the agent answers. */
  private awaySince: number | undefined;
  /** True if the next call follows the agent's Task instead of sending the Message first. */
  private follows: boolean;
  /**
   * Time, by `performance.now()`, from which the policy's `wait` counts: the start of the turn if an earlier execution
   * waited already, else the start of this execution.
   */
  private waitsSince: number;
  /** True if this service has ended the Task. */
  private hasEnded = false;
  private readonly unstored: UnstoredIds;
  private readonly unsent: UnsentNote;
  private readonly parking: RelayParking;
  private readonly passage: LimitPassage;
  private parts: SentParts | undefined;

  /** Turn as it is stored, with the ids that the agent has named since. */
  readonly turn: StoredTurn;

  constructor(
    private readonly agent: RegisteredAgent,
    private readonly services: RelayServices,
    private readonly context: RequestContext,
    private readonly opened: OpenedTurn,
  ) {
    const { turn, log, isRecovered } = opened;
    this.turn = turn;
    this.mirror = new TaskMirror(context, log);
    this.parking = new RelayParking(agent, services, context, turn);
    this.passage = new LimitPassage(agent, services, context, turn);
    const mayBeSent = isRecovered && !turn.isUnsent;
    this.unsent = new UnsentNote(services, context, turn, mayBeSent);
    this.follows = mayBeSent && turn.remoteTaskId !== undefined;
    this.waitsSince = performance.now() - (turn.isUnsent ? Math.max(Date.now() - turn.begunAt.getTime(), 0) : 0);
    if (turn.isUnsent) this.awaySince = this.waitsSince;
    this.unstored = new UnstoredIds((ids) =>
      retryWhileUnreachable(() => services.tasks.keepRemote(context, ids), context.signal),
    );
  }

  /**
   * Stores the newest ids of the agent's Task when this execution is interrupted: the event in whose commit they were
   * to be stored may never be committed. Does not retry.
   */
  async storeIds(): Promise<void> {
    const ids = await this.unstored.takeNewest();
    if (ids) await this.services.tasks.keepRemote(this.context, ids);
  }

  /** Deletes the webhook at the agent if the Task has ended. A Task that waits for an answer keeps its webhook. */
  endCleanly(): void {
    if (this.hasEnded || this.mirror.hasEnded) this.parking.endWebhook();
  }

  /**
   * Runs the turn. Yields the events of the agent, and at the end the event that ends the Task or makes it wait.
   * @throws ExecutionInterrupted if the Task is parked instead
   */
  async *runTurn(): Events {
    const { turn, context } = this;
    let message = context.userMessage;
    if (turn.isAnswer) {
      const answer = firstText(message.parts)?.trim().toLowerCase();
      if (answer === FAIL) return yield this.toEnd('TASK_STATE_FAILED', 'The agent no longer knows this task.');
      const asked = lastMessage(context.task?.history ?? []);
      if (answer !== RESEND || !asked) return yield* this.askCaller();
      message = asked;
    }
    const isUncertain = this.unsent.mayBeSent && turn.remoteTaskId === undefined;
    if (isUncertain && this.agent.policy.forgotten !== 'resend') return yield* this.applyPolicy();
    if (!(await this.passLimits()) || !(await this.waitForRoom())) {
      const words = 'The agent is busy: it takes no more messages for the moment.';
      return yield this.toEnd('TASK_STATE_FAILED', words);
    }
    using parts = new SentParts(message.parts, context.holdParts?.bind(context));
    this.parts = parts;
    const references = await this.findReferences(message);
    for (let failures = 0; ; failures += 1) {
      const call = this.createCall(this.buildRequest(message, await this.readParts(), references));
      if (yield* this.followCall(call)) {
        await this.unstored.storeRest();
        yield* this.parking.parkTask(this.mirror);
        continue;
      }
      const next = await this.nextStep(call.outcome, call);
      if (next === undefined) return yield* this.endTurn(call.outcome);
      await this.unstored.storeRest();
      if (next === 'policy') yield* this.applyPolicy();
      if (next === 'now') continue;
      if (next !== 'again') return;
      await this.unsent.store(true);
      const pause = Math.max(BACKOFF.pauseAfter(Math.min(failures, MOST_DOUBLINGS)), requestedPause(call.outcome));
      await delay(pause, undefined, { signal: context.signal });
    }
  }

  /** Takes the slots of the limits of the service; false if the turn must not wait. `wait` counts from then on. */
  private async passLimits(): Promise<boolean> {
    const mayPass = await this.passage.takeSlots({ isUnderWay: this.follows, isUnsent: !this.unsent.mayBeSent });
    if (this.passage.isLimited) [this.waitsSince, this.awaySince] = [performance.now(), undefined];
    return mayPass;
  }

  /**
   * Waits until the policy permits this turn: until one of the `concurrency` slots is free, and a Message may be sent
   * at the rate `perMinute`. A turn on which the agent works already takes a slot too, but does not wait for one, since
   * the policy may have become stricter after the start of the turn.
   * @returns false if no slot or sending time is available within the policy's `wait`
   */
  private async waitForRoom(): Promise<boolean> {
    const { agent, context, services, follows } = this;
    const { concurrency, perMinute, wait = DEFAULT_WAIT_S } = agent.policy;
    const { signal, taskId } = context;
    const talk = talkOf(agent, context);
    const until = this.waitsSince + wait * SECOND_MS;
    const takeSlot = (most: number): Promise<boolean> =>
      retryWhileUnreachable(() => services.limits.takeSlot(talk, taskId, most), signal);
    const most = follows && concurrency !== undefined ? MOST_TURNS : concurrency;
    for (let looks = 0; most !== undefined && !(await takeSlot(most)); looks += 1) {
      if (performance.now() >= until) return false;
      await this.unsent.store(true);
      await delay(ROOM_BACKOFF.pauseAfter(Math.min(looks, MOST_DOUBLINGS)), undefined, { signal });
    }
    if (perMinute === undefined || follows) return true;
    const left = Math.max(until - performance.now(), 0);
    const turn = { taskId, isUnused: !this.unsent.mayBeSent };
    const reserveTime = (): Promise<number | undefined> => services.limits.reserveMessage(talk, turn, perMinute, left);
    const pause = await retryWhileUnreachable(reserveTime, signal);
    if (pause === undefined) return false;
    if (pause > 0) {
      await this.unsent.store(true);
      await delay(pause, undefined, { signal });
    }
    return true;
  }

  /** Returns the agent's ids of the Tasks in `referenceTaskIds`. Ids of other agents or owners are left out. */
  private async findReferences({ referenceTaskIds: ids = [] }: Message): Promise<string[]> {
    const { services, context, agent } = this;
    const talk = talkOf(agent, context);
    const known = await retryWhileUnreachable(() => services.tasks.remoteTasks(talk, ids), context.signal);
    return ids.flatMap((id) => known.get(id) ?? []);
  }

  /**
   * Returns the request of the next call. It names the agent's Task only if the Message is a follow-up to that Task.
   */
  private buildRequest(message: Message, parts: Part[], references: string[]): SendMessageRequest {
    const { turn } = this;
    const { remoteTaskId: _id, ...withoutTask } = turn;
    return toAgentRequest(message, parts, this.beginsTask ? withoutTask : turn, references);
  }

  /** True if the Message begins a Task at the agent. */
  private get beginsTask(): boolean {
    return this.context.task === null || this.turn.isAnswer;
  }

  /** Returns the Parts of the Message for the next call; none for a call that only follows the agent's Task. */
  private async readParts(): Promise<Part[]> {
    if (!this.follows || !this.beginsTask) return (await this.parts?.readParts()) ?? [];
    this.parts?.release();
    return [];
  }

  private createCall(request: SendMessageRequest): AgentCall {
    const { agent, context, turn, services } = this;
    const { limit, forgotten } = agent.policy;
    const { remoteTaskId } = turn;
    return new AgentCall(services.directory, {
      identity: identityOf(agent, context, turn.options),
      signal: context.signal,
      request,
      context: {
        findContextId: async () => turn.remoteContextId,
        // It is stored with the agent's Task, or with its direct Message.
        keepContextId: async () => undefined,
      },
      findTarget: () => ({ url: agent.url }),
      by: { context, agent: context.call.agent, announcedAt: this.opened.acceptedAfter },
      ...(this.follows && remoteTaskId !== undefined && { known: remoteTaskId }),
      ...(this.follows && request.message.taskId !== remoteTaskId && { delivered: true }),
      leavesTask: true,
      ...(limit !== undefined && { limit: limit * SECOND_MS, since: turn.begunAt.getTime() }),
      ...(forgotten !== 'resend' && { resends: 0 }),
      beforeSend: this.unsent.beforeSend,
      openGate: this.unsent.openGate,
      timeouts: { firstEvent: FIRST_EVENT_MS, idle: IDLE_MS, total: Infinity, refused: 0 },
    });
  }

  /**
   * Yields the events of a call. @returns true if the call was left because its stream is quiet: the Task can be parked
   */
  private async *followCall(call: AgentCall): AsyncGenerator<TaskEvent, boolean, undefined> {
    using stream = new QuietStream(this.parking, () => call.abort());
    try {
      stream.noteEvent();
      this.unsent.beginAttempt();
      for await (const progress of call.runCall()) {
        this.awaySince = undefined;
        this.noteSeen(progress);
        this.releaseParts(progress.seen !== undefined);
        if ('message' in progress.response) this.noteContext(progress.response.message.contextId);
        for (const event of this.mirror.toEvents(progress.response)) yield await this.unstored.addTo(event);
        stream.noteEvent();
      }
    } catch (error) {
      if (!stream.isLeft || this.context.signal.aborted) throw error;
      return true;
    } finally {
      this.unsent.endAttempt();
    }
    return false;
  }

  /** Notes the agent's ids, which are stored with the first event of its Task. */
  private noteSeen({ seen }: CallProgress): void {
    const { turn } = this;
    if (seen === undefined) return;
    const { taskId, contextId } = seen;
    if (taskId !== turn.remoteTaskId || contextId !== turn.remoteContextId) {
      if (!isIdentifier(taskId) || !isIdentifier(contextId)) throw new Error('The agent names ids that do not fit');
      this.unstored.noteIds({ taskId, contextId });
    }
    turn.remoteTaskId = taskId;
    turn.remoteContextId = contextId;
    this.follows = this.unsent.mayBeSent = true;
  }

  /**
   * Releases the bytes of the Message on a response, unless this call may still send the Message again. That is so only
   * on the first response, if the policy allows to resend a Message and the agent does not stream. A later call reads
   * the bytes again.
   * @param isFirst true for the first response of the call
   */
  private releaseParts(isFirst: boolean): void {
    const { policy, card } = this.agent;
    const mayRepeat = isFirst && policy.forgotten === RESEND && card.capabilities?.streaming !== true;
    if (this.beginsTask && !mayRepeat) this.parts?.release();
  }

  /** Notes the contextId of an answer that is a Message. `noteSeen` notes the contextId of a Task. */
  private noteContext(remote: string | undefined): void {
    const { turn } = this;
    if (!remote || turn.remoteTaskId !== undefined || remote === turn.remoteContextId || !isIdentifier(remote)) return;
    this.unstored.noteIds({ contextId: remote });
  }

  /**
   * Returns the next step after a call:
   * - `undefined`: end the turn
   * - `again`: call again after a pause
   * - `now`: call again at once
   * - `policy`: apply the policy for lost Tasks
   */
  private async nextStep(outcome: CallOutcome, call: AgentCall): Promise<'again' | 'now' | 'policy' | undefined> {
    if (this.unsent.hasMissed) return 'now';
    if (outcome.kind !== 'failed' || outcome.failure.state !== undefined) return undefined;
    const decision = this.decideNext(outcome, call);
    const { forgotten } = this.agent.policy;
    if (decision.kind === 'forgotten') {
      if (forgotten !== RESEND) return 'policy';
      return this.canWait() ? this.forgetTask() : undefined;
    }
    if (decision.kind === 'unread' && forgotten !== RESEND) return forgotten === 'ask' ? 'policy' : undefined;
    if (decision.kind !== 'away' && decision.kind !== 'unread') return undefined;
    if (decision.kind === 'away' && !decision.isSafe && forgotten !== RESEND) return 'policy';
    const pause = requestedPause(outcome);
    await this.passage.closeGates(pause);
    await this.postponeMessages(pause);
    return this.canWait(pause) ? 'again' : undefined;
  }

  private decideNext(outcome: CallOutcome & { kind: 'failed' }, call: AgentCall): CallDecision {
    const hasTask = this.turn.remoteTaskId !== undefined;
    // The Message of a follow-up may have reached its Task: the next call looks before it sends.
    if (hasTask && call.isSent) this.follows = true;
    if (call.isSent && !outcome.failure.rateLimited) this.unsent.mayBeSent = true;
    return decideAfter({ failure: outcome.failure, isSent: call.isSent, hasTask });
  }

  /** Delays the next Messages of all replicas, if the agent has a limited rate and asks for a pause. */
  private async postponeMessages(pause: number): Promise<void> {
    const { agent, context, services } = this;
    if (agent.policy.perMinute === undefined || pause === 0) return;
    await retryWhileUnreachable(() => services.limits.postponeMessages(talkOf(agent, context), pause), context.signal);
  }

  /** True if a pause (milliseconds) ends within the `wait` seconds of the policy after the first failed attempt. */
  private canWait(pause = 0): boolean {
    const { wait = DEFAULT_WAIT_S } = this.agent.policy;
    this.awaySince ??= performance.now();
    return performance.now() + pause - this.awaySince < wait * SECOND_MS;
  }

  private forgetTask(): 'again' {
    delete this.turn.remoteTaskId;
    this.follows = false;
    return 'again';
  }

  private async *applyPolicy(): Events {
    if (this.agent.policy.forgotten === 'ask') return yield* this.askCaller();
    const words = 'The agent no longer knows this task, or may not have received the message; it was not sent again.';
    yield this.toEnd('TASK_STATE_FAILED', words);
  }

  private async *askCaller(): Events {
    const { services, context } = this;
    await retryWhileUnreachable(() => services.tasks.noteQuestion(context.taskId), context.signal);
    yield this.toEnd('TASK_STATE_INPUT_REQUIRED', QUESTION);
  }

  /** Yields the event that ends the turn: the agent's last status or direct Message, or the failure of the call. */
  private async *endTurn(outcome: CallOutcome): Events {
    const event = this.lastEvent(outcome);
    if (event) yield await this.unstored.addTo(event);
  }

  private lastEvent(outcome: CallOutcome): TaskEvent | undefined {
    const { reply, status } = outcome.answer;
    if (reply && this.turn.remoteTaskId === undefined) return this.mirror.toReplyEvent(reply);
    if (reply) return this.mirror.toStatusEvent({ state: 'TASK_STATE_COMPLETED', message: reply });
    const isFailed = outcome.kind === 'failed';
    if (status && (!isFailed || outcome.failure.state !== undefined)) return this.mirror.toStatusEvent(status);
    return isFailed ? this.toFailure(outcome) : undefined;
  }

  private toFailure({ failure }: CallOutcome & { kind: 'failed' }): TaskEvent {
    if (failure.kind === 'internal') throw failure.cause;
    const words = failureWords(failure);
    const hasTask = this.turn.remoteTaskId !== undefined;
    const isRefused = decideAfter({ failure, isSent: true, hasTask }).kind === 'refused';
    const before = this.context.task?.status.state;
    if (isRefused && before !== undefined && isWaitingState(before)) return this.toEnd(before, words);
    return this.toEnd(isRefused ? 'TASK_STATE_REJECTED' : 'TASK_STATE_FAILED', words);
  }

  private toEnd(state: TaskState, words: string): TaskEvent {
    this.hasEnded = isTerminalState(state);
    return statusUpdate(this.context, state, words);
  }
}

/** Number of turns that an agent never has: the limit for a turn that must not wait for a slot. */
const MOST_TURNS = 2 ** 31 - 1;
/** Maximum number of times that a pause is doubled. */
const MOST_DOUBLINGS = 10;
