import { Injectable, Logger } from '@nestjs/common';
import {
  type CallContext,
  type LocalRequestHandler,
  type MissedSteps,
  type ServedAgent,
  UnknownAgent,
} from '#libs/agents';
import { type Execution, ExecutionRegistry } from '#libs/executor';
import { isDatabaseAway, retryWhileUnreachable } from '#libs/postgres';
import {
  A2AError,
  type CancelTaskRequest,
  type GetTaskRequest,
  isActiveState,
  runEventNote,
  type SendMessageRequest,
  type StreamResponse,
  type SubscribeToTaskRequest,
  type Task,
} from '#libs/protocol';
import { type RecordedEvent, type StoredTask, TaskFeed, toStreamResponse } from '#libs/tasks';
import { type AcceptedMessage, isAddressableAt } from './message-acceptance.js';
import { publicError } from './public-error.js';
import { RequestHandler } from './request-handler.js';
import type { StreamItem } from './task-stream.js';

/** Task of an agent that a caller of this process follows. */
interface Followed {
  agent: ServedAgent;
  request: SubscribeToTaskRequest;
  call: CallContext;
  signal: AbortSignal | undefined;
}

/** Signal that never aborts, for calls without a signal of their own. */
const NEVER = new AbortController().signal;

/**
 * Request handler for agents of this process that call other agents of this process.
 * - Callers see events before the events are durable (see LiveEvents). That is safe: everything that a caller records
 *   as a consequence is written to the same journal, after these events.
 * - Calls wait while the database is unreachable, instead of failing: the called agent is not at fault.
 */
@Injectable()
export class InProcessHandler implements LocalRequestHandler {
  private readonly logger = new Logger(InProcessHandler.name);

  constructor(
    private readonly handler: RequestHandler,
    private readonly feed: TaskFeed,
    private readonly executions: ExecutionRegistry,
  ) {}

  resolveAgent(call: CallContext, signal = NEVER): Promise<ServedAgent> {
    return retryWhileUnreachable(() => this.handler.agentOfTasks(call), signal);
  }

  async *sendInProcess(
    request: SendMessageRequest,
    call: CallContext,
    signal?: AbortSignal,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const accepted = await this.acceptMessage(request, call, signal);
    if ('reply' in accepted) return yield { message: accepted.reply };
    const { taskId, begunAs, live } = accepted.execution;
    // Without live events the caller follows the log, so it must get only events that the log has.
    if (!live) await waitUntilAccepted(accepted.execution);
    yield { task: begunAs.task };
    let { sequence } = begunAs;
    for await (const recorded of live?.endOnAbort(signal) ?? []) {
      if (signal?.aborted) return;
      sequence = recorded.sequence;
      yield toStreamResponse(recorded.event);
      if (endsTurn(recorded)) return;
    }
    // This process no longer executes the Task, or was not asked for its events: the rest comes from the log.
    for await (const recorded of this.feed.followTask(taskId, sequence, { signal, until: 'waiting' })) {
      yield toStreamResponse(recorded.event);
    }
  }

  async *subscribeToTask(
    agent: ServedAgent,
    request: SubscribeToTaskRequest,
    call: CallContext,
    { signal, missed }: { signal?: AbortSignal; missed?: MissedSteps } = {},
  ): AsyncGenerator<Pick<StreamItem, 'response'>, void, undefined> {
    const readMissed = (last?: number) =>
      missed && this.readMissedSteps(missed, { agent, request, call, signal, last });
    const standing = this.findStanding(agent, request.id, call);
    if (standing) {
      yield* readMissed(standing.header.lastSequence) ?? [];
      return yield* this.followStanding(standing, signal);
    }
    try {
      const { items, first } = await this.openStream({ agent, request, call, signal });
      try {
        if (!first.done) yield* readMissed(first.value.sequence) ?? [];
        for (let next = first; !next.done; next = await items.next()) yield next.value;
      } finally {
        await items.return();
      }
    } catch (error) {
      if (error instanceof A2AError && error.reason === 'UNSUPPORTED_OPERATION') yield* readMissed() ?? [];
      throw error;
    }
  }

  /** Opens the stream of a Task. Retries only until it begins: after that, the stream itself waits for the database. */
  private openStream({ agent, request, call, ...options }: Followed & { since?: number }) {
    const openFirst = async () => {
      const items = this.handler.subscribeToTask(agent, request, call, options);
      return { items, first: await withPublicError(items.next()) };
    };
    return retryWhileUnreachable(openFirst, options.signal ?? NEVER);
  }

  /**
   * Yields the run events in the log of a Task that its caller lacks. If the log cannot be read, the rest is left out:
   * that must not fail the call.
   * @param followed `last`: sequence of the last event to read; absent for a Task that has ended
   */
  private async *readMissedSteps(
    missed: MissedSteps,
    { last = Infinity, ...followed }: Followed & { last?: number | undefined },
  ): AsyncGenerator<Pick<StreamItem, 'response'>, void, undefined> {
    let count = 0;
    try {
      const { items, first } = await this.openStream({ ...followed, since: 0 });
      try {
        for (let next = first; !next.done; next = await items.next()) {
          const { response, sequence = 0 } = next.value;
          if (sequence > last) return;
          const step = 'statusUpdate' in response ? runEventNote(response.statusUpdate.metadata) : undefined;
          if (step && missed.isRecorded(step) && (count += 1) > missed.count()) yield { response };
          if (sequence === last) return;
        }
      } finally {
        await items.return();
      }
    } catch (error) {
      if (followed.signal?.aborted) throw error;
      this.logger.warn({ err: error, taskId: followed.request.id }, 'Steps of a task could not be read for its run');
    }
  }

  /**
   * Returns a Task that this process executes, from memory; `undefined` for any other Task. A run that this replica
   * has adopted finds its child Tasks this way, without a query.
   */
  private findStanding(agent: ServedAgent, taskId: string, { scope }: CallContext): StoredTask | undefined {
    const standing = this.executions.findExecution(taskId)?.standing;
    if (!standing || agent.gone || !isAddressableAt(agent, standing.header)) return undefined;
    const { tenant, owner } = standing.header;
    return tenant === scope.tenant && owner === scope.owner ? standing : undefined;
  }

  private async *followStanding(
    { header, task }: StoredTask,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Pick<StreamItem, 'response'>, void, undefined> {
    const { taskId, lastSequence } = header;
    yield { response: { task } };
    for await (const { event } of this.feed.followTask(taskId, lastSequence, { signal }))
      yield { response: toStreamResponse(event) };
  }

  getTask(agent: ServedAgent, request: GetTaskRequest, call: CallContext, signal = NEVER): Promise<Task> {
    return retryWhileUnreachable(() => withPublicError(this.handler.getTask(agent, request, call)), signal);
  }

  cancelTask(agent: ServedAgent, request: CancelTaskRequest, call: CallContext, signal?: AbortSignal): Promise<Task> {
    return withPublicError(this.handler.cancelTask(agent, request, call, signal));
  }

  private async acceptMessage(
    request: SendMessageRequest,
    call: CallContext,
    signal?: AbortSignal,
  ): Promise<AcceptedMessage> {
    const agent = await this.resolveAgent(call, signal);
    try {
      return await this.handler.acceptMessage(agent, request, call);
    } catch (error) {
      throw toCallerError(error);
    }
  }
}

/**
 * Awaits a promise. If it rejects with an UnknownAgent, throws the A2AError that HTTP callers get; any other error is
 * thrown unchanged.
 */
async function withPublicError<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    throw error instanceof UnknownAgent ? publicError(error) : error;
  }
}

/**
 * Converts an error that callers may see to the A2AError that HTTP callers get. Any other error is an internal fault
 * and returned unchanged.
 */
function toCallerError(error: unknown): unknown {
  const isPublic = error instanceof A2AError || error instanceof UnknownAgent || isDatabaseAway(error);
  return isPublic ? publicError(error) : error;
}

/** Waits until the Message of an execution is durable. @throws A2AError if the Message was not stored */
async function waitUntilAccepted(execution: Execution): Promise<void> {
  try {
    await execution.accepted;
  } catch (error) {
    throw publicError(error);
  }
}

function endsTurn({ event }: RecordedEvent): boolean {
  return 'statusUpdate' in event && !isActiveState(event.statusUpdate.status.state);
}
