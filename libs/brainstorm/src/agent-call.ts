import { Logger } from '@nestjs/common';
import { AgentCallError, type AgentClient, type AgentDirectory, type CallOptions, CalledTask } from '#libs/a2a-client';
import { A2AError, isWaitingState, type SendMessageRequest, type StreamResponse, shownUrl } from '#libs/protocol';
import { turnOutcome, type TurnOutcome } from './agent-answer.js';
import type { StoppedAgent } from './brainstorm-steps.js';

const CANCEL_MS = 5_000;

export interface AgentCallSpec {
  url: string;
  request: SendMessageRequest;
  options: CallOptions;
  /** Throws where the agent must not be called. */
  refuse(): void;
  /** The Task that an earlier call of the same request has made: it is followed instead of made again. */
  known?: string;
}

/** One call of an agent. The card is resolved for it anew (row J3). */
export class AgentCall {
  private readonly logger = new Logger(AgentCall.name);
  private readonly answer = new CalledTask();
  private client: AgentClient | undefined;
  /** Whether the agent may have got the Message. */
  private sent = false;

  constructor(
    private readonly directory: AgentDirectory,
    private readonly spec: AgentCallSpec,
  ) {
    this.answer.taskId = spec.known;
  }

  /**
   * Yields the id of the agent's Task when it is first seen, and returns what came of the call.
   * @throws what the signal was aborted with
   */
  async *run(): AsyncGenerator<string, TurnOutcome> {
    const { signal } = this.spec.options;
    try {
      for await (const response of this.responses()) {
        const seen = this.answer.taskId;
        this.answer.apply(response);
        if (seen === undefined && this.answer.taskId !== undefined) yield this.answer.taskId;
      }
    } catch (error) {
      signal?.throwIfAborted();
      return { kind: 'failed', error: this.causeOf(error) };
    }
    signal?.throwIfAborted();
    if (this.answer.state && isWaitingState(this.answer.state)) void this.cancel();
    return turnOutcome(this.answer);
  }

  /** Cancels the agent's Task, as far as one is known. */
  async cancel(): Promise<Pick<StoppedAgent, 'taskId' | 'outcome'>> {
    const { taskId } = this.answer;
    if (taskId === undefined) return { outcome: this.sent ? 'unknown' : 'not-started' };
    return { taskId, outcome: await cancelTask(this.directory, this.spec, taskId, this.client) };
  }

  private async *responses(): AsyncIterable<StreamResponse> {
    const { url, request, options, known } = this.spec;
    this.spec.refuse();
    const client = await this.directory.client(url, options);
    this.client = client;
    if (known !== undefined) {
      try {
        return yield* client.follow(known, options);
      } catch (error) {
        if (!(error instanceof AgentCallError) || error.kind !== 'not-found') throw error;
        this.answer.taskId = undefined;
      }
    }
    this.sent = true;
    try {
      yield* client.send(request, options);
    } catch (error) {
      if (error instanceof AgentCallError && error.unsent) this.sent = false;
      throw error;
    }
  }

  private causeOf(error: unknown): string {
    if (error instanceof AgentCallError || error instanceof A2AError) return error.message;
    this.logger.error({ err: error, url: shownUrl(this.spec.url) }, 'The call of an agent failed');
    return 'internal error';
  }
}

/** Cancels a Task of an agent; never throws. */
export async function cancelTask(
  directory: AgentDirectory,
  { url, options }: Pick<AgentCallSpec, 'url' | 'options'>,
  taskId: string,
  open?: AgentClient,
): Promise<StoppedAgent['outcome']> {
  const bounded = { ...options, timeouts: { refused: 0 }, signal: AbortSignal.timeout(CANCEL_MS) };
  try {
    const client = open ?? (await directory.client(url, bounded));
    return await client.cancel(taskId, bounded);
  } catch {
    return 'unreachable';
  }
}
