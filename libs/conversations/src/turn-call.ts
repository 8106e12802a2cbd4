import { AgentCallError, type AgentClient, type AgentDirectory, CalledTask, type CallOptions } from '#libs/a2a-client';
import { type Hop, HOP_CHAIN, hopMetadata } from '#libs/executor';
import { isWaitingState, type SendMessageRequest, type StreamResponse, textPart, userMessage } from '#libs/protocol';
import type { Reply, TurnFailure } from './conversation.js';
import type { CallName } from './conversation-metadata.js';
import type { SideSession } from './conversation-state.js';
import { replyText } from './reply-text.js';
import { answerFailure, callFailure, outOfTime } from './turn-failure.js';

export interface TurnCallSpec {
  call: CallName;
  /**
   * Where the agent is, and what the Message carries beside the text. Part of the call: what it throws is a failure of
   * the turn, as for an agent that is not known or must not be called.
   */
  prepare(): Promise<{ url: string; hops: readonly Hop[] }>;
  /** The same for every attempt at the call. */
  messageId: string;
  text: string;
  session: SideSession;
  /** The Task that an earlier process was seen to make for this call, or goes on with: it is followed. */
  known?: string;
  timeoutMs: number;
  signal: AbortSignal;
  options: Pick<CallOptions, 'scope' | 'parent' | 'credential' | 'onlyToHosts'>;
}

/** No limit but the turn's own shall speak. */
const UNLIMITED = { firstEvent: Infinity, idle: Infinity, total: Infinity };
const CANCEL_MS = 5_000;

/** One call to an agent, for one turn. */
export class TurnCall {
  readonly answer = new CalledTask();
  private readonly deadline: AbortSignal;
  private client: AgentClient | undefined;

  constructor(
    private readonly directory: AgentDirectory,
    private readonly spec: TurnCallSpec,
  ) {
    this.deadline = AbortSignal.timeout(spec.timeoutMs);
    this.answer.taskId = spec.known ?? spec.session.taskId;
  }

  /** Where the speaker goes on after this answer; the Task only while it waits. */
  get session(): SideSession & { waiting: boolean } {
    const { taskId, contextId = this.spec.session.contextId, reply, state } = this.answer;
    return {
      waiting: reply === undefined && state === 'TASK_STATE_INPUT_REQUIRED',
      ...(taskId !== undefined && { taskId }),
      ...((reply?.contextId ?? contextId) !== undefined && { contextId: reply?.contextId ?? contextId }),
    };
  }

  /** Makes the call, yields the Task's id when it is first seen, and returns the reply. Throws only the signal's reason. */
  async *reply(): AsyncGenerator<string, Reply, undefined> {
    try {
      yield* this.converse();
      const failure = answerFailure(this.answer);
      return failure ? { failure } : { text: replyText(this.answer) };
    } catch (error) {
      this.spec.signal.throwIfAborted();
      return { failure: this.failure(error) };
    }
  }

  private async *converse(): AsyncGenerator<string, void, undefined> {
    const { known } = this.spec;
    const options = this.options();
    const { url, hops } = await this.spec.prepare();
    this.client = await this.directory.client(url, options);
    if (known === undefined) return yield* this.read(this.client.send(this.request(hops), options));
    yield* this.read(this.client.follow(known, options));
    if (this.undelivered) yield* this.read(this.client.send(this.request(hops), options));
  }

  private async *read(responses: AsyncIterable<StreamResponse>): AsyncGenerator<string, void, undefined> {
    for await (const response of responses) {
      const before = this.answer.taskId;
      this.answer.apply(response);
      if (before === undefined && this.answer.taskId !== undefined) yield this.answer.taskId;
    }
    this.deadline.throwIfAborted();
    this.spec.signal.throwIfAborted();
  }

  /** Whether the Task that was followed still waits for the very Message of this call. */
  private get undelivered(): boolean {
    const { state, history } = this.answer;
    if (state === undefined || !isWaitingState(state)) return false;
    return !history.some(({ messageId }) => messageId === this.spec.messageId);
  }

  private request(hops: readonly Hop[]): SendMessageRequest {
    const { text, messageId, session } = this.spec;
    const fields = { messageId, ...session, extensions: [HOP_CHAIN], metadata: hopMetadata(hops) };
    return { message: userMessage([textPart(text)], fields) };
  }

  private options(): CallOptions {
    const { options, signal } = this.spec;
    return { ...options, signal: AbortSignal.any([signal, this.deadline]), timeouts: UNLIMITED };
  }

  private failure(error: unknown): TurnFailure {
    const isUnsent = error instanceof AgentCallError && error.unsent;
    if (this.deadline.aborted && !isUnsent) {
      const { taskId } = this.answer;
      if (taskId !== undefined)
        void this.client?.cancel(taskId, { ...this.spec.options, timeouts: { total: CANCEL_MS } });
      return outOfTime(this.spec.timeoutMs);
    }
    const failure = callFailure(error);
    if (failure) return failure;
    throw error;
  }
}
