import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { AgentCallError, type AgentClient, type AgentDirectory, CalledTask, type CallOptions } from '#libs/a2a-client';
import {
  A2A_ERRORS,
  A2AError,
  ContentTooLarge,
  isJsonObject,
  isWaitingState,
  type RunEventNote,
  type SendMessageRequest,
  type StreamResponse,
  shownUrl,
} from '#libs/protocol';
import { callFailure, type ChildEnding, childEnding } from './child-ending.js';
import type { ChildOutcome } from './node-run.js';
import type { WorkflowNode } from './workflow.js';

/** What a run hears of a node's call. */
export interface ChildNews {
  nodeId: string;
  url: string;
  taskId: string | undefined;
  contextId: string | undefined;
  /** A step that the agent told of, or how the call ended. */
  step?: RunEventNote;
  ending?: ChildEnding;
}

export interface ChildCallSpec {
  node: WorkflowNode;
  url: string;
  request: SendMessageRequest;
  /** Owner, parent and credential of the call. */
  options: CallOptions;
  /** Milliseconds for the whole call. */
  timeout?: number;
  /** The Task that an earlier call of the same request has made: it is followed instead of made again. */
  known?: string;
  /** Throws where the agent must not be called. */
  refuse?: () => void;
  /** Called at the first sight of the Task that the agent made; the call goes on when it resolves. */
  onTask(taskId: string): Promise<void>;
  tell(news: ChildNews): Promise<void>;
}

/** The steps of a child that its run passes on. */
const PASSED_STEPS = new Set(['model.request', 'model.response', 'tool.call', 'tool.result']);

/** Where the node has a limit of its own for the whole call, no other limit shall speak first. */
const UNLIMITED = { firstEvent: Infinity, idle: Infinity, total: Infinity };

/**
 * How long a cancel waits for the Task id of an agent that was only just called: of ours, which is known to make one,
 * and of any other. And how long for the agent's answer.
 */
const OWN_SIGHT_MS = 2_000;
const SIGHT_MS = 500;
const CANCEL_MS = 5_000;

/** With the pauses between them, about thirteen seconds: as long as another replica needs to take over. */
const MAX_REPEATS = 7;
const FIRST_PAUSE_MS = 100;

/** One call of a node's agent, from the request to the end of the answer. */
export class ChildCall {
  private readonly logger = new Logger(ChildCall.name);
  private readonly controller = new AbortController();
  private readonly child = new CalledTask();
  private sighted: () => void = () => undefined;
  private readonly sight = new Promise<void>((resolve) => {
    this.sighted = resolve;
  });
  private client: AgentClient | undefined;
  /** Whether the agent may have got the Message. */
  private sent = false;
  private running: Promise<void> | undefined;

  constructor(
    private readonly directory: AgentDirectory,
    private readonly spec: ChildCallSpec,
  ) {
    this.child.taskId = spec.known ?? spec.request.message.taskId;
  }

  get taskId(): string | undefined {
    return this.child.taskId;
  }

  /** Makes the call and tells what comes of it. Never rejects. */
  run(): Promise<void> {
    this.running ??= this.conclude();
    return this.running;
  }

  /** Closes the connection. Tells nothing more. */
  abort(): void {
    this.controller.abort();
  }

  /** Closes the connection and cancels the agent's Task; waits a moment for one that is only being made. */
  async cancel(): Promise<ChildOutcome> {
    const patience = this.spec.node.type === 'external' ? SIGHT_MS : OWN_SIGHT_MS;
    if (this.taskId === undefined && this.sent) await within(patience, this.sight);
    this.abort();
    if (this.taskId === undefined && this.sent) await within(patience, this.run());
    return this.cancelTask();
  }

  private async conclude(): Promise<void> {
    const ending = await this.ending();
    this.sighted();
    if (!this.controller.signal.aborted) await this.tell({ ending });
  }

  private async ending(): Promise<ChildEnding> {
    const { node, url, timeout } = this.spec;
    const deadline = timeout === undefined ? undefined : AbortSignal.timeout(timeout);
    try {
      await this.converse(deadline);
      return childEnding(node, url, this.child);
    } catch (error) {
      const isUnsent = error instanceof AgentCallError && error.unsent;
      if (!deadline?.aborted || isUnsent) return callFailure(node, url, this.causeOf(error));
      void this.cancelTask();
      return callFailure(node, url, `timeout: not finished within ${(timeout ?? 0) / 1000} s`);
    }
  }

  private async cancelTask(): Promise<ChildOutcome> {
    const { client, taskId } = this;
    if (taskId === undefined) return this.sent ? 'unknown' : 'not-started';
    if (client === undefined) return 'unreachable';
    return cancelTask(client, taskId, this.spec.options);
  }

  /** A call that makes one Task however often it comes is made again where its connection was lost. */
  private async converse(deadline: AbortSignal | undefined): Promise<void> {
    this.spec.refuse?.();
    for (let lost = 0; ; lost += 1) {
      try {
        return await this.exchange(deadline, lost === 0 ? this.spec.known : this.taskId);
      } catch (error) {
        if (lost === MAX_REPEATS || !this.mayRepeat(error)) throw error;
      }
      await delay(FIRST_PAUSE_MS * 2 ** lost, undefined, { signal: this.controller.signal }).catch(() => undefined);
    }
  }

  /** An own agent answers with an internal error while its database is out of reach. What is unsent was waited for. */
  private mayRepeat(error: unknown): boolean {
    if (this.spec.options.idempotencyKey === undefined || !(error instanceof AgentCallError)) return false;
    if (error.unsent) return false;
    return ['connect', 'server-error'].includes(error.kind) || error.code === A2A_ERRORS.INTERNAL.code;
  }

  private async exchange(deadline: AbortSignal | undefined, known: string | undefined): Promise<void> {
    const { url } = this.spec;
    const options = this.callOptions(deadline);
    const client = await this.directory.client(url, options);
    this.client = client;
    if (known === undefined) return this.send(client, options);
    await this.read(client.follow(known, options));
    if (this.undelivered) await this.send(client, options);
  }

  private async send(client: AgentClient, options: CallOptions): Promise<void> {
    options.signal?.throwIfAborted();
    const before = this.sent;
    this.sent = true;
    try {
      await this.read(client.send(this.spec.request, options));
    } catch (error) {
      if (error instanceof AgentCallError && error.unsent) this.sent = before;
      throw error;
    }
  }

  /** Whether the Task that was found again still waits for the very Message of this call. */
  private get undelivered(): boolean {
    const { messageId, taskId } = this.spec.request.message;
    const { state, history } = this.child;
    if (taskId === undefined || state === undefined || !isWaitingState(state)) return false;
    return !history.some((message) => message.messageId === messageId);
  }

  private async read(responses: AsyncIterable<StreamResponse>): Promise<void> {
    for await (const response of responses) {
      const first = this.child.taskId === undefined;
      const step = this.child.apply(response);
      if (first && this.child.taskId !== undefined) await this.remember(this.child.taskId);
      this.sighted();
      if (step && PASSED_STEPS.has(step.type) && isJsonObject(step.payload)) await this.tell({ step });
    }
  }

  /** A Task that could not be noted down costs a repeated Message after a crash, not the call. */
  private async remember(taskId: string): Promise<void> {
    try {
      await this.spec.onTask(taskId);
    } catch (error) {
      this.logger.warn(
        { err: error, taskId, url: shownUrl(this.spec.url) },
        'The task of a child could not be remembered',
      );
    }
  }

  private tell(news: Pick<ChildNews, 'step' | 'ending'>): Promise<void> {
    const { taskId, contextId } = this.child;
    return this.spec.tell({ nodeId: this.spec.node.id, url: this.spec.url, taskId, contextId, ...news });
  }

  private callOptions(deadline: AbortSignal | undefined): CallOptions {
    const { options, timeout } = this.spec;
    const { signal } = this.controller;
    return {
      ...options,
      signal: deadline ? AbortSignal.any([signal, deadline]) : signal,
      ...(timeout !== undefined && { timeouts: UNLIMITED }),
    };
  }

  private causeOf(error: unknown): string {
    if (error instanceof AgentCallError || error instanceof A2AError || error instanceof ContentTooLarge)
      return error.message;
    this.logger.error(
      { err: error, node: this.spec.node.id, url: shownUrl(this.spec.url) },
      'The call of a node failed',
    );
    return 'internal error';
  }
}

/** Cancels a Task of an agent that no call is open to. */
export async function cancelWaiting(
  directory: AgentDirectory,
  url: string,
  taskId: string,
  options: CallOptions,
): Promise<ChildOutcome> {
  const bounded = { ...options, timeouts: { refused: 0 }, signal: AbortSignal.timeout(CANCEL_MS) };
  try {
    return await cancelTask(await directory.client(url, bounded), taskId, options);
  } catch {
    return 'unreachable';
  }
}

async function cancelTask(client: AgentClient, taskId: string, options: CallOptions): Promise<ChildOutcome> {
  const outcome = client.cancel(taskId, { ...options, signal: AbortSignal.timeout(CANCEL_MS) });
  return (await within(CANCEL_MS, outcome)) ?? 'unreachable';
}

/** What a promise resolves to, `undefined` when the time is up first. */
async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), milliseconds);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
