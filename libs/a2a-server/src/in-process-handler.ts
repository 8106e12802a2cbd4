import { Injectable } from '@nestjs/common';
import {
  type CallContext,
  type Execution,
  ExecutionRegistry,
  type LocalRequestHandler,
  type ServedAgent,
  UnknownAgent,
} from '#libs/executor';
import { isDatabaseAway, untilReached } from '#libs/postgres';
import {
  A2AError,
  type CancelTaskRequest,
  type GetTaskRequest,
  isActiveState,
  type SendMessageRequest,
  type StreamResponse,
  type SubscribeToTaskRequest,
  type Task,
} from '#libs/protocol';
import { type RecordedEvent, type StoredTask, TaskFeed, toStreamResponse } from '#libs/tasks';
import type { Accepted } from './accepted.js';
import { isFoundAt } from './message-intake.js';
import { publicError } from './public-error.js';
import { RequestHandler } from './request-handler.js';
import type { StreamItem } from './stream-item.js';

/** Signal of calls that cannot be aborted. */
const NEVER = new AbortController().signal;

/**
 * Request handler for callers in this process, which record their conclusions in the same journal. They see events
 * before those are durable (see LiveEvents). They wait while the database is unreachable, which says nothing about the
 * called agent.
 */
@Injectable()
export class InProcessHandler implements LocalRequestHandler {
  constructor(
    private readonly handler: RequestHandler,
    private readonly feed: TaskFeed,
    private readonly executions: ExecutionRegistry,
  ) {}

  agent(call: CallContext, signal = NEVER): Promise<ServedAgent> {
    return untilReached(() => this.handler.agentOfTasks(call), signal);
  }

  async *sendInProcess(
    request: SendMessageRequest,
    call: CallContext,
    signal?: AbortSignal,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const accepted = await this.accepted(request, call, signal);
    if ('reply' in accepted) return yield { message: accepted.reply };
    const { taskId, begunAs, live } = accepted.execution;
    // Without live events the caller follows the log, so it gets nothing that is not in it yet.
    if (!live) await durable(accepted.execution);
    yield { task: begunAs.task };
    let { sequence } = begunAs;
    for await (const recorded of live?.until(signal) ?? []) {
      if (signal?.aborted) return;
      sequence = recorded.sequence;
      yield toStreamResponse(recorded.event);
      if (endsTurn(recorded)) return;
    }
    // This process no longer executes the Task, or was not asked for its events: the rest comes from the log.
    for await (const recorded of this.feed.follow(taskId, sequence, { signal, until: 'waiting' })) {
      yield toStreamResponse(recorded.event);
    }
  }

  async *subscribeToTask(
    agent: ServedAgent,
    request: SubscribeToTaskRequest,
    call: CallContext,
    options: { signal?: AbortSignal } = {},
  ): AsyncGenerator<Pick<StreamItem, 'response'>, void, undefined> {
    const standing = this.standing(agent, request.id, call);
    if (standing) return yield* this.followed(standing, options.signal);
    // Only until the stream begins: later waits are its own.
    const opened = async () => {
      const items = this.handler.subscribeToTask(agent, request, call, options);
      return { items, first: await withPublicError(items.next()) };
    };
    const { items, first } = await untilReached(opened, options.signal ?? NEVER);
    try {
      for (let next = first; !next.done; next = await items.next()) yield next.value;
    } finally {
      await items.return();
    }
  }

  /** Returns the Task if this process executes it: an adopted run finds its child Tasks this way, without a query. */
  private standing(agent: ServedAgent, taskId: string, { scope }: CallContext): StoredTask | undefined {
    const standing = this.executions.executing(taskId)?.standing;
    if (!standing || agent.gone || !isFoundAt(agent, standing.header)) return undefined;
    const { tenant, owner } = standing.header;
    return tenant === scope.tenant && owner === scope.owner ? standing : undefined;
  }

  private async *followed(
    { header, task }: StoredTask,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Pick<StreamItem, 'response'>, void, undefined> {
    const { taskId, lastSequence } = header;
    yield { response: { task } };
    for await (const { event } of this.feed.follow(taskId, lastSequence, { signal }))
      yield { response: toStreamResponse(event) };
  }

  getTask(agent: ServedAgent, request: GetTaskRequest, call: CallContext, signal = NEVER): Promise<Task> {
    return untilReached(() => withPublicError(this.handler.getTask(agent, request, call)), signal);
  }

  cancelTask(agent: ServedAgent, request: CancelTaskRequest, call: CallContext, signal?: AbortSignal): Promise<Task> {
    return withPublicError(this.handler.cancelTask(agent, request, call, signal));
  }

  private async accepted(request: SendMessageRequest, call: CallContext, signal?: AbortSignal): Promise<Accepted> {
    const agent = await this.agent(call, signal);
    try {
      return await this.handler.accept(agent, request, call);
    } catch (error) {
      throw known(error);
    }
  }
}

/** Rethrows an unknown agent as HTTP reports it, and any other error unchanged. */
async function withPublicError<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    throw error instanceof UnknownAgent ? publicError(error) : error;
  }
}

/**
 * Converts an error that callers may see, as HTTP reports it; any other error is an internal fault and returned
 * unchanged.
 */
function known(error: unknown): unknown {
  const isPublic = error instanceof A2AError || error instanceof UnknownAgent || isDatabaseAway(error);
  return isPublic ? publicError(error) : error;
}

/** Waits until the Message is durable. @throws A2AError if it was not stored */
async function durable(execution: Execution): Promise<void> {
  try {
    await execution.accepted;
  } catch (error) {
    throw publicError(error);
  }
}

function endsTurn({ event }: RecordedEvent): boolean {
  return 'statusUpdate' in event && !isActiveState(event.statusUpdate.status.state);
}
