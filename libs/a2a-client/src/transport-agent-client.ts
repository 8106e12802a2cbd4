import { isDeepStrictEqual } from 'node:util';
import { isActiveState, isWaitingState, type SendMessageRequest, type StreamResponse, type Task } from '#libs/protocol';
import {
  type AnswerPlace,
  Backoff,
  type ContentLimits,
  DEFAULT_CONTENT_LIMITS,
  type ReceivedAnswers,
} from '#libs/service';
import { AgentCallError } from './agent-call-error.js';
import {
  type AgentCallOptions,
  AgentClient,
  type CalledCard,
  type CancelOutcome,
  type TaskWebhook,
} from './agent-client.js';
import { completeAnswer, readEnd } from './answer-endings.js';
import { type AccountedOptions, AnswerSize, StreamPace, taskIdOf, TurnBoundary } from './answer-limits.js';
import { type CallAttempt, CallDeadlines } from './call-deadlines.js';
import { type CallOutcomes, toAgentCallError } from './call-failure.js';
import { exchangeOnce, exchangeStream, pauseAfter, waitWithinCall } from './exchange.js';
import {
  cancelOutcome,
  FOLLOWED,
  isLostConnection,
  isMissingOperation,
  isAnswerFailure,
  isPassing,
  isWithoutStream,
  unansweredGetTask,
  ignoreUnstored,
} from './failure-rules.js';
import { type AgentTransport, type PushConfigName, withBlocking } from './transports/agent-transport.js';

/** Tenant and owner whose memory limit applies to an answer if the call has no `scope`. */
export const NOBODY = { tenant: '', owner: '' };
const CANCEL_TOTAL_MS = 5_000;
/**
 * Maximum number of connections lost one after another. With the pauses between them they take about twelve seconds,
 * as long as another replica needs to take over a Task.
 */
const MAX_LOST_CONNECTIONS = 8;
const BACKOFF = new Backoff(100, 3_000);
/** Pauses between polls of an agent that does not stream. */
const POLLS = new Backoff(100, 1_000);
/**
 * Maximum number of polls of a Task that stays as the previous turn left it. With the pauses between them they take
 * about three seconds, in which the agent may begin to work on the new Message.
 */
const MAX_UNCHANGED = 5;

/** Call in progress: its options, its time limits, and the size of its answer so far. */
interface OpenAgentCall {
  options: AccountedOptions;
  limits: CallDeadlines;
  size: AnswerSize;
}

/**
 * Client that adds to a transport what every call needs: time limits, retries, and resuming an interrupted stream.
 * After an interruption the stream yields the Task as a snapshot that replaces all earlier events.
 */
export class TransportAgentClient extends AgentClient {
  /** True once the agent is known not to have GetTask. Messages then request an answer at the end of the turn. */
  #hasNoGetTask = false;

  constructor(
    override readonly agentUrl: string,
    override readonly card: CalledCard | undefined,
    private readonly transport: AgentTransport,
    private readonly outcomes: CallOutcomes,
    private readonly content: Pick<ContentLimits, 'artifact' | 'task'> = DEFAULT_CONTENT_LIMITS,
    private readonly room?: ReceivedAnswers,
  ) {
    super();
  }

  override sendMessage(request: SendMessageRequest, options: AgentCallOptions = {}): AsyncIterable<StreamResponse> {
    return this.#runCall(options, (call) => this.#sendAndFollow(request, call));
  }

  override followTask(taskId: string, options: AgentCallOptions = {}): AsyncIterable<StreamResponse> {
    return this.#runCall(options, (call) => this.#followUntilSettled(taskId, call));
  }

  override async getTask(taskId: string, options: AgentCallOptions = {}): Promise<Task> {
    using limits = new CallDeadlines(options, this.transport.timeouts);
    using place = this.#openAccount(options, limits);
    return await this.outcomes.countOutcome(() =>
      this.#getTask(taskId, { ...options, ...(place && { place }) }, limits),
    );
  }

  override async cancelTask(taskId: string, options: AgentCallOptions = {}): Promise<CancelOutcome> {
    const { total = Infinity } = options.timeouts ?? {};
    const timeouts = { ...options.timeouts, total: Math.min(total, CANCEL_TOTAL_MS) };
    using limits = new CallDeadlines({ ...options, timeouts }, this.transport.timeouts);
    try {
      await this.outcomes.countOutcome(() =>
        exchangeOnce(limits, (attempt) => this.transport.cancelTask(taskId, attempt.attemptOptions(options))),
      );
      return 'acknowledged';
    } catch (error) {
      const outcome = cancelOutcome(error as AgentCallError);
      return outcome === 'refused' && (await this.#isCanceled(taskId, options, limits)) ? 'acknowledged' : outcome;
    }
  }

  override async registerWebhook(webhook: TaskWebhook, options: AgentCallOptions = {}): Promise<void> {
    const { transport } = this;
    if (transport.createPushConfig === undefined) return super.registerWebhook(webhook, options);
    using limits = new CallDeadlines(options, transport.timeouts);
    await this.outcomes.countOutcome(() =>
      exchangeOnce(limits, (attempt) => transport.createPushConfig!(webhook, attempt.attemptOptions(options))),
    );
  }

  override async deleteWebhook(webhook: PushConfigName, options: AgentCallOptions = {}): Promise<void> {
    if (this.transport.deletePushConfig === undefined) return;
    using limits = new CallDeadlines(options, this.transport.timeouts);
    await this.outcomes.countOutcome(() =>
      exchangeOnce(limits, (attempt) => this.transport.deletePushConfig!(webhook, attempt.attemptOptions(options))),
    );
  }

  /**
   * True if a Task is canceled; false also if it cannot be read. Some agents cancel a Task when its caller
   * disconnects, and then reject the cancellation that follows.
   */
  async #isCanceled(taskId: string, options: AgentCallOptions, limits: CallDeadlines): Promise<boolean> {
    const task = await this.#getTask(taskId, options, limits).catch(() => undefined);
    return task?.status.state === 'TASK_STATE_CANCELED';
  }

  async *#runCall(
    options: AgentCallOptions,
    run: (call: OpenAgentCall) => AsyncIterable<StreamResponse>,
  ): AsyncIterable<StreamResponse> {
    using limits = new CallDeadlines(options, this.transport.timeouts);
    using place = this.#openAccount(options, limits);
    const size = new AnswerSize(this.content, place);
    const accounted = { ...options, onSkipped: size.noteSkipped, ...(place && { place }) };
    let failure: AgentCallError | undefined;
    try {
      for await (const event of run({ options: accounted, limits, size })) {
        place?.beginConsumption();
        yield event;
        place?.endConsumption();
      }
    } catch (error) {
      throw (failure = toAgentCallError(error));
    } finally {
      this.outcomes.countEnd(failure);
    }
  }

  #openAccount({ scope }: AgentCallOptions, limits: CallDeadlines): AnswerPlace | undefined {
    return this.room?.openPlace(scope ?? NOBODY, limits);
  }

  #sendAndFollow(request: SendMessageRequest, call: OpenAgentCall): AsyncIterable<StreamResponse> {
    const { taskId } = request.message;
    const isStreamed = taskId === undefined || !this.transport.streaming || !this.transport.postMessage;
    return isStreamed ? this.#sendAndRead(request, call) : this.#postAndFollow(taskId, request, call);
  }

  /**
   * Posts a Message to an existing Task that can be read, then follows the Task by SubscribeToTask. Reason for posting:
   * some agents do the work of a streamed Message, then reject their own stream, because it does not begin with its
   * Task.
   */
  async *#postAndFollow(id: string, request: SendMessageRequest, call: OpenAgentCall): AsyncIterable<StreamResponse> {
    const { options, limits } = call;
    const before = await this.#getTask(id, options, limits).catch(() => undefined);
    yield* before ? this.#sendFollowUp(request, call, before) : this.#sendAndRead(request, call);
  }

  async *#sendFollowUp(request: SendMessageRequest, call: OpenAgentCall, before: Task): AsyncIterable<StreamResponse> {
    const { options, limits, size } = call;
    const turn = new TurnBoundary(!isWaitingState(before.status.state), before.status);
    const { transport } = this;
    const openPost = async function* (attempt: CallAttempt): AsyncIterable<StreamResponse> {
      yield await transport.postMessage!(request, attempt.attemptOptions(options));
    };
    try {
      for await (const event of exchangeStream(limits, openPost, limits.timeouts.refused, options.resends)) {
        size.countResponse(event);
        yield event;
        if (turn.isOver(event)) return size.requireContent();
      }
    } catch (error) {
      if (!isLostConnection(error, limits) || error.unsent) throw error;
      const task = await this.#getTask(before.id, options, limits).catch(() => undefined);
      if (task === undefined || isDeepStrictEqual(task, before)) throw error;
    }
    yield* this.#followUntilSettled(before.id, call, turn);
  }

  async *#sendAndRead(sent: SendMessageRequest, call: OpenAgentCall): AsyncIterable<StreamResponse> {
    const { options, limits, size } = call;
    const request = this.#hasNoGetTask ? withBlocking(sent) : sent;
    const turn = new TurnBoundary(!this.transport.streaming || request.message.taskId === undefined);
    const openSending = (attempt: CallAttempt) => this.transport.sendMessage(request, attempt.attemptOptions(options));
    let taskId: string | undefined;
    let isWhole = request.message.taskId === undefined;
    try {
      for await (const event of exchangeStream(limits, openSending, limits.timeouts.refused, options.resends)) {
        size.countResponse(event);
        taskId ??= taskIdOf(event);
        isWhole ||= 'task' in event;
        yield event;
        if (turn.isOver(event))
          return yield* completeAnswer(isWhole, event, size, (id) => this.#getTask(id, options, limits));
      }
    } catch (error) {
      if (taskId !== undefined && isLostConnection(error, limits))
        return yield* this.#followUntilSettled(taskId, call, turn);
      if (taskId !== undefined && !size.isExceeded && isAnswerFailure(error))
        return yield* this.#observeAfterError(taskId, call, { turn, error });
      throw error;
    }
    if (taskId === undefined) throw new AgentCallError('invalid-response', 'the agent answered with nothing');
    if (turn.endsWithMessage) return;
    if (turn.isUnchanged) yield* this.#checkStillWaiting(taskId, call, turn);
    else if (request === sent && !this.transport.streaming) yield* this.#pollOrSendBlocking(taskId, sent, call, turn);
    else yield* this.#followUntilSettled(taskId, call, turn);
  }

  /**
   * Polls a Task of an agent that does not stream. If the agent has no GetTask, sends the Message again with the same
   * id, and asks for an answer at the end of the turn, since the first answer does not contain the result. A Message
   * whose Parts its caller has removed is not sent.
   */
  async *#pollOrSendBlocking(
    taskId: string,
    request: SendMessageRequest,
    call: OpenAgentCall,
    turn: TurnBoundary,
  ): AsyncIterable<StreamResponse> {
    try {
      yield* this.#pollTask(taskId, call, turn);
    } catch (error) {
      if (!this.#hasNoGetTask || call.options.resends === 0 || request.message.parts.length === 0) throw error;
      if (request.message.taskId !== undefined || !isMissingOperation(error)) throw error;
      yield* this.#sendAndRead(request, call);
    }
  }

  /**
   * Reads a Task once more if its stream ended and reported only the waiting state from before the Message. If that
   * state is unchanged, it is the answer, and nothing is yielded. Otherwise yields the Task, and follows it unless the
   * turn is over.
   */
  async *#checkStillWaiting(taskId: string, call: OpenAgentCall, turn: TurnBoundary): AsyncIterable<StreamResponse> {
    const { options, limits, size } = call;
    const task = await this.#getTask(taskId, options, limits).catch(ignoreUnstored);
    if (task === undefined) return;
    const isOver = turn.isOver({ task });
    if (turn.isUnchanged) return;
    size.countResponse({ task });
    yield { task };
    if (!isOver) yield* this.#followUntilSettled(taskId, call, turn);
  }

  /**
   * Polls and yields a Task after an error in the middle of its answer, since the Task may continue or have ended.
   *
   * - Polls while the Task changes, and for a limited time after its last change: at some agents such a Task never
   *   ends.
   * - If the caller limits the call itself (`isLimited`), polls as long as the Task is active.
   *
   * @throws the given error if the Task does not reach an end
   */
  async *#observeAfterError(
    taskId: string,
    { options, limits, size }: OpenAgentCall,
    { turn, error }: { turn: TurnBoundary; error: AgentCallError },
  ): AsyncIterable<StreamResponse> {
    let seen: string | undefined;
    for (let looks = 0, quiet = 0; quiet <= MAX_LOST_CONNECTIONS; looks += 1, quiet += 1) {
      const task = await this.#getTask(taskId, options, limits).catch((failure: unknown) => {
        if (!isPassing(failure, limits)) throw limits.over ? failure : error;
      });
      if (task) {
        const isOver = turn.isOver({ task });
        const state = JSON.stringify(task);
        if (seen !== undefined && state !== seen) looks = quiet = 0;
        if (options.isLimited && isActiveState(task.status.state)) quiet = 0;
        if (state !== seen && !turn.isUnchanged) {
          size.countResponse({ task });
          yield { task };
        }
        if (isOver) return;
        seen = state;
      }
      await waitWithinCall(BACKOFF.pauseAfter(looks), limits);
    }
    throw error;
  }

  async *#followUntilSettled(
    taskId: string,
    call: OpenAgentCall,
    turn = new TurnBoundary(true),
  ): AsyncIterable<StreamResponse> {
    const { options, limits, size } = call;
    if (!this.transport.streaming) return yield* this.#pollTask(taskId, call, turn);
    const openSubscription = (attempt: CallAttempt) =>
      this.transport.subscribeToTask(taskId, attempt.attemptOptions(options));
    const pace = new StreamPace();
    let hasAppended = false;
    for (let lost = 0; lost <= MAX_LOST_CONNECTIONS; lost += 1) {
      let asked = 0;
      let isAnswered = false;
      pace.noteOpening();
      try {
        for await (const event of exchangeStream(limits, openSubscription, 0, 0)) {
          size.countResponse(event);
          isAnswered = true;
          if (!('task' in event)) lost = 0;
          const isOver = turn.isOver(event);
          yield isOver && hasAppended ? await readEnd(event, size, (id) => this.#getTask(id, options, limits)) : event;
          if (isOver) return size.requireContent();
          hasAppended ||= 'artifactUpdate' in event && event.artifactUpdate.append === true;
        }
      } catch (error) {
        if (isWithoutStream(error)) break;
        // An agent that answers each time, whose silent streams something between cuts, is polled in the end.
        if (!isPassing(error, limits, FOLLOWED) || (lost >= MAX_LOST_CONNECTIONS && !isAnswered)) throw error;
        // A time-out has already taken its full limit, so it counts as two lost connections.
        if (error.kind === 'timeout') lost += 1;
        asked = pauseAfter(error);
      }
      if (turn.isUnchanged && lost === MAX_UNCHANGED) return;
      await waitWithinCall(Math.max(pace.nextPause(), asked), limits);
    }
    yield* this.#pollTask(taskId, call, turn);
  }

  /** Polls a Task with GetTask until it ends or waits; yields it after each change. */
  async *#pollTask(
    taskId: string,
    { options, limits, size }: OpenAgentCall,
    turn: TurnBoundary,
  ): AsyncIterable<StreamResponse> {
    let seen = '';
    for (let polls = 0, lost = 0; ; polls += 1) {
      try {
        const task = await this.#getTask(taskId, options, limits);
        lost = 0;
        const state = JSON.stringify(task);
        size.countResponse({ task });
        if (state !== seen) yield { task };
        if (turn.isOver({ task }) || (turn.isUnchanged && polls === MAX_UNCHANGED)) return size.requireContent();
        seen = state;
      } catch (error) {
        if (seen === '' && isMissingOperation(error)) {
          this.#hasNoGetTask ||= !this.transport.streaming;
          throw unansweredGetTask(error);
        }
        lost += 1;
        if (lost > MAX_LOST_CONNECTIONS || !isPassing(error, limits)) throw error;
      }
      await waitWithinCall(lost > 0 ? BACKOFF.pauseAfter(lost) : POLLS.pauseAfter(polls), limits);
    }
  }

  #getTask(taskId: string, options: AccountedOptions, limits: CallDeadlines): Promise<Task> {
    return exchangeOnce(limits, (attempt) => this.transport.getTask(taskId, attempt.attemptOptions(options)));
  }
}
