import { Injectable, Optional } from '@nestjs/common';
import {
  AgentCatalog,
  agentOrGone,
  type CallContext,
  callerGone,
  ExecutionInterrupted,
  type ServedAgent,
  UnknownAgent,
} from '#libs/agents';
import { type Execution, ExecutionRegistry, RevisionClaims } from '#libs/executor';
import { pageTokenAfter, ResponseBudget } from '#libs/http-server';
import { forClient } from '#libs/postgres';
import {
  A2AError,
  type AgentCard,
  type CancelTaskRequest,
  type GetTaskRequest,
  invalidParams,
  isTerminalState,
  type ListTasksRequest,
  type ListTasksResponse,
  type Message,
  readTimestamp,
  type SendMessageRequest,
  type SendMessageResponse,
  type SubscribeToTaskRequest,
  type Task,
} from '#libs/protocol';
import { PushConfigs } from '#libs/push';
import {
  applyTaskEvent,
  type LogAdmission,
  PreconditionFailed,
  TaskFeed,
  type TaskFilter,
  type TaskHeader,
  TaskStore,
} from '#libs/tasks';
import { ServedCards } from './cards/served-cards.js';
import { tenantAgent } from './http/call-context.js';
import {
  type AcceptedMessage,
  isAddressableAt,
  MessageAcceptance,
  notFoundAt,
  ownerOf,
  PushNotifications,
} from './message-acceptance.js';
import { AnswerAdmission, publicError } from './public-error.js';
import {
  type Beginning,
  messageItem,
  type StreamItem,
  type SubscriptionOptions,
  taskItem,
  TaskItems,
  TaskSubscription,
} from './task-stream.js';

/** Position of a Task in the answer to ListTasks: newest status first, then by id (A2A 1.0, section 3.1.4). */
export interface ListPosition {
  updatedAt: Date;
  taskId: string;
}

const TOKEN = /^(\d{1,16})\.([^\p{Cc}]{1,256})$/su;

/**
 * Decodes a page token of ListTasks. @throws A2AError INVALID_PARAMS for a token that `pageTokenAfter` did not create
 */
export function decodePageToken(token: string): ListPosition {
  const match = /^[\w-]+$/.test(token) ? TOKEN.exec(Buffer.from(token, 'base64url').toString()) : null;
  const updatedAt = new Date(Number(match?.[1]));
  const taskId = match?.[2];
  if (taskId === undefined || Number.isNaN(updatedAt.getTime())) {
    throw invalidParams({ field: 'pageToken', description: 'must be a nextPageToken of ListTasks' });
  }
  return { updatedAt, taskId };
}

const DEFAULT_PAGE_SIZE = 50;
/** Maximum milliseconds that a stream waits for the first event of an agent that may answer without a Task. */
const FIRST_EVENT_MS = 2_000;

type AddressedCall = Pick<CallContext, 'agent' | 'scope' | 'revision' | 'revisionClaim'>;

/**
 * Operations of A2A 1.0 (section 3.1), independent of any binding.
 *
 * - Requests are valid: a binding has parsed them.
 * - Operations throw A2AError, or UnknownAgent if a Task's own agent has been deleted. Any other error is an internal
 *   fault that no caller may see.
 */
@Injectable()
export class RequestHandler {
  /** Operations on push notification configs. */
  readonly push: PushNotifications;
  private readonly intake: MessageAcceptance;
  private readonly subscription: TaskSubscription;

  constructor(
    private readonly catalog: AgentCatalog,
    private readonly executions: ExecutionRegistry,
    private readonly tasks: TaskStore,
    private readonly feed: TaskFeed,
    readonly cards: ServedCards,
    @Optional() configs?: PushConfigs,
    @Optional() private readonly claims?: RevisionClaims,
    @Optional() private readonly room?: ResponseBudget,
  ) {
    this.push = new PushNotifications((agent, taskId, call) => this.requireTask(agent, taskId, call), configs);
    this.intake = new MessageAcceptance(catalog, executions, tasks, this.push);
    this.subscription = new TaskSubscription(tasks, feed);
  }

  /**
   * Returns the agent that a call addresses, in the revision that the call names (as calls of a run do), else the
   * newest.
   * @throws A2AError if the agent does not exist, or the call asks for a revision that it may not use
   */
  async resolveAgent(call: AddressedCall): Promise<ServedAgent> {
    const { agent, scope } = call;
    const claimed = this.claimedRevision(call);
    try {
      return await this.catalog.inTenant(scope.tenant).resolveAgent(agent, claimed);
    } catch (error) {
      throw toPublicError(error);
    }
  }

  /**
   * Returns the agent that a call addresses, for operations on existing Tasks. For a deleted agent, returns a
   * placeholder that has only its existing Tasks.
   * @throws A2AError if the call asks for a revision that it may not use
   */
  async agentOfTasks(call: AddressedCall): Promise<ServedAgent> {
    const { agent, scope } = call;
    const claimed = this.claimedRevision(call);
    const resolveClaimed = (): Promise<ServedAgent> => this.catalog.inTenant(scope.tenant).resolveAgent(agent, claimed);
    return agentOrGone(resolveClaimed, agent, claimed);
  }

  /**
   * Runs a function with the cached agent, without a query for its newest revision. If the function finds that the
   * cached revision is no longer the newest (PreconditionFailed), runs it again with the newest revision. Used for
   * Messages and for reads of Tasks.
   */
  async withCachedAgent(call: CallContext, act: (agent: ServedAgent) => Promise<void>): Promise<void> {
    const recent = isPlain(call) ? this.catalog.inTenant(call.scope.tenant).findCachedAgent?.(call.agent) : undefined;
    try {
      if (recent) return await act(recent);
    } catch (error) {
      if (!(error instanceof PreconditionFailed)) throw error;
    }
    return act(await this.agentOfTasks(call));
  }

  private claimedRevision({ agent, scope, revision, revisionClaim }: AddressedCall): string | undefined {
    return revisionClaim === undefined ? revision : this.claims?.readRevision({ agent, scope }, revisionClaim);
  }

  /** Returns the agent whose Tasks a request is about (see `tenantAgent`). */
  agentOfTenant(agent: ServedAgent, request: { tenant?: string }, call: AddressedCall): Promise<ServedAgent> {
    return tenantAgent(this.catalog, agent, request, call);
  }

  /** Accepts a Message; resolves before the Message is durable. @throws the errors of MessageAcceptance */
  acceptMessage(agent: ServedAgent, request: SendMessageRequest, call: CallContext): Promise<AcceptedMessage> {
    return this.intake.acceptMessage(agent, request, call);
  }

  /**
   * Sends a Message and returns the Task or a direct Message. Resolves when the Task has ended or waits, or with
   * `returnImmediately` as soon as the Message is durable (section 3.2.2).
   */
  async sendMessage(agent: ServedAgent, request: SendMessageRequest, call: CallContext): Promise<SendMessageResponse> {
    requireOperation(agent, 'SendMessage', call);
    const admission = new AnswerAdmission(this.room, call);
    const accepted = await this.intake.acceptMessage(agent, request, { ...call, admission });
    if ('reply' in accepted) return { message: accepted.reply };
    const { execution } = accepted;
    const { returnImmediately, historyLength } = request.configuration ?? {};
    const task = returnImmediately
      ? (await execution.accepted).task
      : await this.waitUntilSettled(execution, call, admission);
    const reply = agent.executor.directReply?.(task);
    if (reply) return { message: reply };
    return { task: withHistoryLength(task, historyLength) };
  }

  /**
   * Sends a Message and yields the accepted Task, then every event until the Task ends or waits; or one direct Message.
   * A rejection is thrown when the stream is opened, or by the first `next()`. Ending the stream early does not affect
   * the Task.
   */
  sendStreamingMessage(
    agent: ServedAgent,
    request: SendMessageRequest,
    call: CallContext,
    signal?: AbortSignal,
  ): AsyncGenerator<StreamItem, void, undefined> {
    return new TaskItems(this.feed, () => this.beginStream(agent, request, call), signal);
  }

  async getTask(agent: ServedAgent, request: GetTaskRequest, call: CallContext): Promise<Task> {
    requireOperation(agent, 'GetTask', call);
    const admission = new AnswerAdmission(this.room, call);
    const stored = await this.tasks.loadTask(request.id, call.scope, admission, agent.premise);
    if (!stored || !isAddressableAt(agent, stored.header)) throw notFoundAt(agent, request.id);
    return withHistoryLength(stored.task, request.historyLength);
  }

  /** Lists the caller's Tasks at this agent, or of all agents at the service, newest status first (section 3.1.4). */
  async listTasks(agent: ServedAgent, request: ListTasksRequest, call: CallContext): Promise<ListTasksResponse> {
    requireOperation(agent, 'ListTasks', call);
    const pageSize = request.pageSize ?? DEFAULT_PAGE_SIZE;
    const filter: TaskFilter = {
      scope: call.scope,
      ...(agent.path !== '' && { agent: agent.path }),
      ...(request.contextId !== undefined && { contextId: request.contextId }),
      ...(request.status !== undefined && { state: request.status }),
      ...(request.statusTimestampAfter !== undefined && { updatedAfter: readTimestamp(request.statusTimestampAfter) }),
    };
    const before = request.pageToken === undefined ? undefined : decodePageToken(request.pageToken);
    const artifacts = request.includeArtifacts ?? false;
    const [{ tasks, more }, totalSize] = await forClient(call.whenGone ?? call.whenAnswered, () =>
      Promise.all([
        this.tasks.readPage({ ...filter, artifacts, before, limit: pageSize }, new AnswerAdmission(this.room, call)),
        this.tasks.countTasks(filter),
      ]),
    );
    if (agent.gone && totalSize === 0) throw agent.gone;
    const last = tasks.at(-1);
    return {
      tasks: tasks.map((stored) => asListed(stored.task, request)),
      nextPageToken: last && more ? pageTokenAfter(last.header) : '',
      pageSize,
      totalSize,
    };
  }

  /**
   * Cancels a Task. Resolves once the cancellation is durable.
   * @param gone signal that aborts when the caller no longer waits, which does not undo the cancellation
   * @throws the reason of `gone` once it has aborted
   */
  async cancelTask(
    agent: ServedAgent,
    request: CancelTaskRequest,
    call: CallContext,
    gone = callerGone(call),
  ): Promise<Task> {
    requireOperation(agent, 'CancelTask', call);
    const header = await this.requireTask(agent, request.id, call);
    const { state } = header;
    if (isTerminalState(state)) {
      throw new A2AError('TASK_NOT_CANCELABLE', {
        message: `The task has already ended (${state})`,
        metadata: { taskId: request.id, state },
      });
    }
    return this.executions.cancelAndWait(
      await ownerOf(this.catalog, this.tasks, agent, header),
      request.id,
      call,
      gone,
    );
  }

  /**
   * Follows a Task from a cursor or from now, as TaskSubscription describes. A rejection is thrown when the stream is
   * opened, or by the first `next()`.
   */
  subscribeToTask(
    agent: ServedAgent,
    request: SubscribeToTaskRequest,
    call: CallContext,
    options: SubscriptionOptions = {},
  ): AsyncGenerator<StreamItem, void, undefined> {
    return this.subscription.followTask(
      async () => {
        const at = await this.agentOfTenant(agent, request, call);
        requireOperation(at, 'SubscribeToTask', call);
        const log = await this.tasks.readLog(request.id, call.scope, agent.premise);
        if (!log || !isAddressableAt(at, log.header)) throw notFoundAt(at, request.id);
        return log;
      },
      options,
      new AnswerAdmission(this.room, call),
    );
  }

  /** Returns the extended card (section 3.1.11). */
  extendedAgentCard(agent: ServedAgent, call: CallContext): Promise<AgentCard> {
    if (agent.gone) throw agent.gone;
    return this.cards.extendedCard(agent, call);
  }

  /** Returns the card of an agent with the members of 0.3: the extended card, or else the public card. */
  legacyCard(agent: ServedAgent, call: CallContext): Promise<AgentCard> {
    return this.cards.legacyCard(agent, call);
  }

  private async beginStream(agent: ServedAgent, request: SendMessageRequest, call: CallContext): Promise<Beginning> {
    requireOperation(agent, 'SendStreamingMessage', call);
    const admission = new AnswerAdmission(this.room, call);
    const accepted = await this.intake.acceptMessage(agent, request, { ...call, admission });
    if ('reply' in accepted) return { opening: [messageItem(accepted.reply)] };
    const { taskId, accepted: durable } = accepted.execution;
    const { task, sequence } = await durable;
    const reply = await this.awaitDirectReply(agent, request, { taskId, task, sequence });
    if (reply) return { opening: [messageItem(reply)] };
    const opening = [taskItem(withHistoryLength(task, request.configuration?.historyLength), sequence)];
    return { opening, room: admission, log: { taskId, after: sequence, until: 'waiting' } };
  }

  /**
   * Returns the direct Message that the first event of a new Task records. Returns `undefined` for any other event,
   * after two seconds without an event, and for an agent that always answers with a Task.
   */
  private async awaitDirectReply(
    { executor }: ServedAgent,
    { message }: SendMessageRequest,
    { taskId, task, sequence }: { taskId: string; task: Task; sequence: number },
  ): Promise<Message | undefined> {
    if (!executor.directReply || message.taskId !== undefined) return undefined;
    const signal = AbortSignal.timeout(FIRST_EVENT_MS);
    const events = this.feed.followTask(taskId, sequence, { until: 'waiting', signal });
    const { value } = await events.next();
    await events.return(undefined);
    return value && executor.directReply(applyTaskEvent(task, value.event));
  }

  private async requireTask(agent: ServedAgent, taskId: string, call: CallContext): Promise<TaskHeader> {
    const header = await this.tasks.readHeader(taskId, call.scope);
    if (!header || !isAddressableAt(agent, header)) throw notFoundAt(agent, taskId);
    return header;
  }

  /**
   * Waits for the next terminal or waiting state of a Task, even if another process executes the Task.
   * @throws ClientLeft if the caller has left: a Task is not followed for such a caller
   */
  private async waitUntilSettled(execution: Execution, call: CallContext, admission: LogAdmission): Promise<Task> {
    await execution.accepted;
    try {
      return await execution.settled;
    } catch (error) {
      if (!(error instanceof ExecutionInterrupted)) throw error;
    }
    const { sequence } = await execution.accepted;
    const signal = callerGone(call);
    const events = this.feed.followTask(execution.taskId, sequence, { until: 'waiting', signal });
    while (!(await events.next()).done);
    signal?.throwIfAborted();
    const stored = await this.tasks.loadTask(execution.taskId, call.scope, admission);
    if (!stored) throw new Error(`Task ${execution.taskId} vanished`);
    return stored.task;
  }
}

/**
 * True if a call has nothing that must be checked before a Task is created: no revision, idempotency key or
 * extension.
 */
function isPlain({ revision, revisionClaim, idempotencyKey, extensions }: CallContext): boolean {
  return (revision ?? revisionClaim ?? idempotencyKey) === undefined && extensions.length === 0;
}

/**
 * Converts an error that callers may see to the A2AError that HTTP callers get. Any other error is an internal fault
 * and returned unchanged.
 */
function toPublicError(error: unknown): unknown {
  return error instanceof A2AError || error instanceof UnknownAgent ? publicError(error) : error;
}

/**
 * Rejects an operation that the agent does not offer. Calls inside this process use all operations.
 * @throws A2AError UNSUPPORTED_OPERATION
 */
function requireOperation({ operations }: ServedAgent, name: string, { parent }: CallContext): void {
  if (operations === undefined || parent !== undefined || operations.has(name)) return;
  throw new A2AError('UNSUPPORTED_OPERATION', { message: `This agent does not offer ${name}` });
}

/** Returns a Task with its newest `historyLength` Messages: all if it is absent; no `history` for 0 (section 3.2.4). */
function withHistoryLength(task: Task, historyLength: number | undefined): Task {
  if (historyLength === undefined || task.history === undefined) return task;
  if (historyLength >= task.history.length) return task;
  const { history, ...rest } = task;
  return historyLength === 0 ? rest : { ...rest, history: history.slice(-historyLength) };
}

/** Returns a Task as ListTasks shows it: with `artifacts` always or never, as requested (section 3.1.4). */
function asListed(task: Task, options: { historyLength?: number; includeArtifacts?: boolean }): Task {
  const { artifacts, ...rest } = withHistoryLength(task, options.historyLength);
  return options.includeArtifacts ? { ...rest, artifacts: artifacts ?? [] } : rest;
}
