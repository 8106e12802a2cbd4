import { setTimeout as delay } from 'node:timers/promises';
import {
  AgentCallError,
  type AgentCallOptions,
  type AgentClient,
  type AgentDirectory,
  CalledTask,
  type CancelOutcome,
} from '#libs/a2a-client';
import { fittedParts, TaskCanceled } from '#libs/agents';
import {
  A2A_ERRORS,
  isWaitingState,
  type Message,
  type Part,
  type RunEventNote,
  type SendMessageRequest,
  type StreamResponse,
} from '#libs/protocol';
import { Backoff, withinTime } from '#libs/service';
import {
  type AgentCallSpec,
  AgentContext,
  callOptions,
  type CanceledCall,
  cancelOptions,
  cancelTask,
  extendCallChain,
} from './agent-call-spec.js';
import { CallEnd, type CallFailure, type CallOutcome, timedOut, toCallFailure, toCallOutcome } from './call-outcome.js';

/** Update of a running agent call: one response of the agent. */
export interface CallProgress {
  response: StreamResponse;
  /** Run event (`parley/event`) in the metadata of the response; absent if there is none. */
  step?: RunEventNote;
  /** Task of the agent, in the first response of this call that names it; absent in all others. */
  seen?: SeenTask;
}

interface SeenTask {
  taskId: string;
  contextId: string;
  /** True if the id of the Task was unknown before this response. */
  first: boolean;
}

/**
 * Maximum milliseconds that a cancel waits until an agent of this service that was just called reports the id of its
 * Task. Such an agent always creates a Task.
 */
const OWN_SIGHT_MS = 2_000;
/** Maximum milliseconds that a cancel waits until a remote agent that was just called reports the id of its Task. */
const SIGHT_MS = 500;

/**
 * Maximum number of retries after a lost connection. With the pauses between them they take about 13 seconds, enough
 * for another replica to take over the Task.
 */
const MAX_REPEATS = 7;
const BACKOFF = new Backoff(100);

/**
 * Durable call of one agent, from the request to the end of the answer. Decides when the Message is sent, when the
 * agent's Task is followed, and when that Task is canceled.
 * - The Message leaves this process only after the decision to send it is durable.
 * - If the agent is known to have a Task for the Message, that Task is followed. The Message is sent again, with the
 *   same id, only if there is no such Task.
 */
export class AgentCall {
  /** Answer of the agent so far. */
  readonly answer = new CalledTask();
  private readonly end: CallEnd;
  private readonly sight = Promise.withResolvers<void>();
  private readonly over = Promise.withResolvers<void>();
  private client: AgentClient | undefined;
  private sent = false;
  /** True if a response in this call has named the agent's Task. */
  private met = false;
  private unsent: AgentCallError | undefined;
  private readonly delayed = Promise.withResolvers<string>();
  private leaving: Promise<void> | undefined;
  private canceling: Promise<CancelOutcome> | undefined;
  private ended: CallOutcome | undefined;
  private readonly context: AgentContext;
  /** Parts of the Message in the form that the agent accepts; `undefined` before they were adapted. */
  private adapted: { parts: Part[] } | undefined;

  constructor(
    private readonly directory: AgentDirectory,
    private readonly spec: AgentCallSpec,
  ) {
    this.answer.taskId = spec.known ?? spec.request.message.taskId;
    this.context = new AgentContext(spec.context);
    this.end = new CallEnd(spec.signal, (reason) => this.onCallerEnd(reason));
  }

  /** Id of the agent's Task; `undefined` if it is not known. */
  get taskId(): string | undefined {
    return this.answer.taskId;
  }

  /** True if the call was canceled or aborted, or the calling execution has ended. `runCall` then throws the reason. */
  get givenUp(): boolean {
    return this.end.givenUp;
  }

  /** True if the agent may have received the Message. */
  get isSent(): boolean {
    return this.sent;
  }

  /** Failure of the call as long as its agent cannot be reached and has received nothing; `undefined` otherwise. */
  get refusal(): CallFailure | undefined {
    return this.unsent && toCallFailure(this.unsent);
  }

  /**
   * Resolves with the reason why the first attempt of the call is repeated, for example a refused connection. Never
   * resolves if no attempt is repeated.
   */
  get delay(): Promise<string> {
    return this.delayed.promise;
  }

  /** Outcome of the call. @throws Error before the call has ended, and if it was canceled or aborted */
  get outcome(): CallOutcome {
    if (this.ended === undefined) throw new Error('The call has no outcome yet');
    return this.ended;
  }

  /**
   * Makes the call and yields its updates. Call this method once. The next response is read only after the reader has
   * taken the previous update. If the reader of a durable call stops early without giving the call up, the Task at a
   * remote agent is canceled.
   * @throws only the reason why the call was given up
   */
  async *runCall(): AsyncGenerator<CallProgress, void, undefined> {
    const { by } = this.spec;
    using end = this.end;
    try {
      end.heedCaller();
      if (this.wasNeverSent) this.spec.onRestart?.();
      if (by && !by.staysHere) await by.context.flush();
      end.throwIfGivenUp();
      if (this.wasNeverSent) this.restartLimit();
      else end.startLimit(this.spec.limit, this.spec.since);
      for await (const response of this.streamResponses()) {
        this.context.keepFrom(response);
        yield this.applyResponse(response);
      }
      await this.context.waitUntilKept();
      end.throwIfGivenUp();
      this.ended = toCallOutcome(this.answer);
    } catch (error) {
      this.ended = this.toFailedOutcome(error);
    } finally {
      const isAbandoned = this.ended === undefined && !end.givenUp && this.isAtWork;
      if (by && isAbandoned) void this.cancelSeen();
      this.sight.resolve();
      this.over.resolve();
    }
  }

  /** Closes the connection and gives the call up; the agent continues its work. */
  abort(): void {
    this.end.closeConnection(new AgentCallError('aborted', 'the call was aborted'));
  }

  /**
   * Closes the connection and cancels the agent's Task. If the Task id is not known yet, waits for it up to two
   * seconds. Never throws.
   */
  async cancelCall(): Promise<CanceledCall> {
    await this.leaveCall(new TaskCanceled());
    const { taskId } = this;
    if (taskId === undefined) return { outcome: this.sent ? 'unknown' : 'not-started' };
    return { taskId, outcome: await this.cancelSeen() };
  }

  /**
   * Cancels the agent's Task once: later callers of this method get the same outcome. If the agent could not be
   * reached, the next caller sends the cancel again. Never rejects.
   */
  private cancelSeen(): Promise<CancelOutcome> {
    this.canceling ??= this.cancelTask(this.taskId ?? '').then((outcome) => {
      if (outcome === 'unreachable') this.canceling = undefined;
      return outcome;
    });
    return this.canceling;
  }

  private async cancelTask(taskId: string): Promise<CancelOutcome> {
    const { client, spec } = this;
    try {
      if (client) return await client.cancelTask(taskId, cancelOptions(spec.identity));
      return await cancelTask(this.directory, (await spec.findTarget()).url, taskId, spec.identity);
    } catch {
      return 'unreachable';
    }
  }

  /**
   * True if an earlier execution recorded the call in the log, but the local agent has no Task for it, so no Message
   * was sent.
   */
  private get wasNeverSent(): boolean {
    const { own, known, since } = this.spec;
    return own === true && known === undefined && since !== undefined;
  }

  /** Starts the time limit again from now. Called if it turns out that no execution has sent the Message yet. */
  private restartLimit(): void {
    this.spec.onRestart?.();
    this.end.startLimit(this.spec.limit);
  }

  private onCallerEnd(reason: unknown): void {
    if (reason instanceof TaskCanceled) void this.leaveCall(reason);
    else this.end.closeConnection(reason);
  }

  private leaveCall(reason: TaskCanceled): Promise<void> {
    this.end.giveUp(reason);
    this.leaving ??= this.letGo(reason);
    return this.leaving;
  }

  private async letGo(reason: TaskCanceled): Promise<void> {
    const patience = this.spec.own ? OWN_SIGHT_MS : SIGHT_MS;
    if (this.taskId === undefined && this.sent) await withinTime(this.sight.promise, patience);
    this.end.closeConnection(reason);
    if (this.taskId === undefined && this.sent) await withinTime(this.over.promise, patience);
  }

  /**
   * Returns the outcome of a failed call. If the Message could not be sent, that failure is used even after a timeout,
   * because it is more specific.
   * @throws the reason why the call was given up
   */
  private toFailedOutcome(error: unknown): CallOutcome {
    const { answer, end, spec } = this;
    end.throwIfGivenUp();
    const isUnsent = error instanceof AgentCallError && error.unsent;
    const isTimedOut = end.timedOut && !isUnsent;
    const isAbandoned = isTimedOut || this.isLeftAtWork(error);
    if (this.taskId !== undefined && isAbandoned) void this.cancelSeen();
    return { kind: 'failed', answer, failure: isTimedOut ? timedOut(spec.limit ?? 0) : toCallFailure(error) };
  }

  /**
   * True if the reader stopped because of an error while a remote agent was still at work, so that its Task must be
   * canceled.
   */
  private isLeftAtWork(error: unknown): boolean {
    const isGone = error instanceof AgentCallError && (error.kind === 'aborted' || error.kind === 'not-found');
    return !isGone && !this.spec.leavesTask && this.isAtWork;
  }

  /** True if a remote agent has a Task for this call, and that Task was active in its last response. */
  private get isAtWork(): boolean {
    const { own, known, request } = this.spec;
    // A Task that waits for the Message, and does not get it, keeps waiting.
    const isSeen = this.met || (known !== undefined && known !== request.message.taskId);
    return !own && isSeen && this.answer.active;
  }

  /**
   * Yields the responses. After a lost connection, sends the Message again if the agent creates only one Task for
   * repeated Messages.
   */
  private async *streamResponses(): AsyncGenerator<StreamResponse, void, undefined> {
    const { spec, end } = this;
    const onUnsent = (failure: AgentCallError | undefined): void => void (this.unsent = failure);
    const onPause = (isPaused: boolean): void => {
      end.pauseLimit(isPaused);
      if (isPaused) spec.onPause?.();
    };
    const onRepeat = (reason: string): void => this.delayed.resolve(reason);
    const missed = spec.missed && { missed: spec.missed };
    const options = { ...callOptions(spec, end.signal), ...missed, onUnsent, onRepeat, onPause };
    const target = await spec.findTarget();
    const request = extendCallChain(spec, target);
    await spec.admit?.();
    for (let lost = 0; ; lost += 1) {
      try {
        this.client = await this.directory.resolveClient(target.url, options);
        return yield* this.exchangeMessage(this.client, request, options, lost === 0 ? spec.known : this.taskId);
      } catch (error) {
        if (lost === MAX_REPEATS || !this.mayRepeat(error)) throw error;
      }
      await delay(BACKOFF.pauseAfter(lost), undefined, { signal: end.signal }).catch(() => undefined);
    }
  }

  /**
   * True if the call may be retried: the connection to an agent of this service is lost, or that agent failed with an
   * internal error, as it does while its database is unreachable.
   */
  private mayRepeat(error: unknown): boolean {
    if (!this.spec.own || !(error instanceof AgentCallError) || error.unsent) return false;
    const isLost = error.kind === 'not-found' && this.isUnrecorded;
    return isLost || ['connect', 'server-error'].includes(error.kind) || error.code === A2A_ERRORS.INTERNAL.code;
  }

  /**
   * True if an agent of this service has named its Task in this call, but that Task may not be durable: an agent in
   * this process names its Task before the commit.
   */
  private get isUnrecorded(): boolean {
    const { own, known, request } = this.spec;
    return own === true && this.met && known === undefined && request.message.taskId === undefined;
  }

  /**
   * Follows the known Task, if there is one. Otherwise, or if that Task still waits for the Message, sends the Message.
   */
  private async *exchangeMessage(
    client: AgentClient,
    request: SendMessageRequest,
    options: AgentCallOptions,
    known: string | undefined,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    if (known !== undefined) {
      try {
        yield* client.followTask(known, options);
        if (!this.undelivered) return;
        if (!this.sent && this.spec.since !== undefined) this.restartLimit();
      } catch (error) {
        this.forgetTask(error);
      }
    }
    this.end.signal.throwIfAborted();
    if (this.spec.beforeSend) await this.spec.beforeSend();
    const before = this.sent;
    this.sent = true;
    try {
      yield* this.sendInContext(
        client,
        this.completeRequest(client, await this.adaptedRequest(client, request, options)),
        options,
      );
    } catch (error) {
      if (error instanceof AgentCallError && error.unsent) this.sent = before;
      const { taskId } = request.message;
      if (taskId === undefined || !(await this.isLate(client, taskId, options, error))) throw error;
      yield* client.followTask(taskId, options);
    }
  }

  /**
   * Sends the Message with the `contextId` of earlier calls. If the agent has forgotten that context, sends the Message
   * once more without it.
   */
  private async *sendInContext(
    client: AgentClient,
    request: SendMessageRequest,
    options: AgentCallOptions,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const inContext = await this.context.withKeptContext(request);
    try {
      yield* client.sendMessage(inContext, options);
    } catch (error) {
      if (this.met || !this.context.noteRefusal(inContext, error)) throw error;
      yield* client.sendMessage(request, options);
    }
  }

  /**
   * Returns the request with Parts that the agent accepts (see `adapt`). Every attempt of this call gets the same
   * request.
   */
  private async adaptedRequest(
    client: AgentClient,
    request: SendMessageRequest,
    options: AgentCallOptions,
  ): Promise<SendMessageRequest> {
    if (this.spec.adapt === undefined) return request;
    if (this.adapted === undefined) {
      const { parts } = request.message;
      const modes = parts.every(({ text }) => text !== undefined) ? undefined : await client.inputModes(options);
      const { unread, ...fitted } = fittedParts({ inputModes: modes ?? [] }, parts);
      this.spec.adapt(unread);
      this.adapted = fitted;
    }
    return { ...request, message: { ...request.message, ...this.adapted } };
  }

  private completeRequest(client: AgentClient, request: SendMessageRequest): SendMessageRequest {
    const message = this.spec.complete?.(request.message, client);
    return message ? { ...request, message } : request;
  }

  /**
   * True if the Message was rejected because its Task no longer waits. Possible causes: the Task of a remote agent
   * resumed without the Message, for example after a login (section 7.6.2); or this Message resumed the Task, and the
   * response to the first attempt was lost.
   */
  private async isLate(
    client: AgentClient,
    taskId: string,
    options: AgentCallOptions,
    error: unknown,
  ): Promise<boolean> {
    if (this.spec.own || !(error instanceof AgentCallError)) return false;
    if (error.kind !== 'rpc-error' && error.kind !== 'client-error') return false;
    const task = await client.getTask(taskId, options).catch(() => undefined);
    return task !== undefined && !isWaitingState(task.status.state);
  }

  /** True if the followed Task still waits for the Message of this call. */
  private get undelivered(): boolean {
    const { request, delivered } = this.spec;
    const { messageId, taskId } = request.message;
    const { state, history } = this.answer;
    if (delivered || taskId === undefined || state === undefined || !isWaitingState(state)) return false;
    return !history.some((message) => message.messageId === messageId);
  }

  /**
   * Handles the failure to follow the known Task. Returns if the Message may be sent now; if the agent no longer has
   * that Task, the call forgets the Task.
   * @throws the given error if the Message must not be sent
   */
  private forgetTask(error: unknown): void {
    if (this.isUntold(error)) return;
    const isForgotten = error instanceof AgentCallError && error.kind === 'not-found';
    const maySendAgain = this.spec.forgotten === 'send' || this.isUnrecorded;
    if (!isForgotten || !maySendAgain) throw error;
    this.answer.taskId = undefined;
    this.met = false;
  }

  /**
   * True if the Message answers the known Task, and that Task could not be followed because the remote agent has no
   * method to read Tasks. The agent has then not received the Message.
   */
  private isUntold(error: unknown): boolean {
    const { own, known, delivered, request } = this.spec;
    const isFor = known !== undefined && known === request.message.taskId;
    if (own || delivered || !isFor || !(error instanceof AgentCallError)) return false;
    return error.code === A2A_ERRORS.METHOD_NOT_FOUND.code;
  }

  private applyResponse(response: StreamResponse): CallProgress {
    const known = this.taskId !== undefined;
    const step = this.answer.applyResponse(response);
    this.sight.resolve();
    const seen = this.met || 'message' in response ? undefined : { ...toSeenTask(response), first: !known };
    this.met ||= seen !== undefined;
    return { response, ...(step && { step }), ...(seen && { seen }) };
  }
}

function toSeenTask(response: Exclude<StreamResponse, { message: Message }>): Omit<SeenTask, 'first'> {
  if ('task' in response) return { taskId: response.task.id, contextId: response.task.contextId };
  const { taskId, contextId } = 'statusUpdate' in response ? response.statusUpdate : response.artifactUpdate;
  return { taskId, contextId };
}
