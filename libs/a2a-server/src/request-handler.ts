import { Injectable, Optional } from '@nestjs/common';
import {
  AgentCatalog,
  agentOrGone,
  type CallContext,
  callerGone,
  type Execution,
  ExecutionInterrupted,
  ExecutionRegistry,
  RevisionClaims,
  type ServedAgent,
  UnknownAgent,
} from '#libs/executor';
import { ResponseBudget } from '#libs/http';
import {
  A2AError,
  type AgentCard,
  type CancelTaskRequest,
  type GetTaskRequest,
  isTerminalState,
  type ListTasksRequest,
  type ListTasksResponse,
  readTimestamp,
  type SendMessageRequest,
  type SendMessageResponse,
  type SubscribeToTaskRequest,
  type Task,
} from '#libs/protocol';
import { forClient } from '#libs/postgres';
import { PushConfigs } from '#libs/push';
import { type LogAdmission, PremiseFailed, TaskFeed, type TaskFilter, type TaskHeader, TaskStore } from '#libs/tasks';
import { isFoundAt, MessageIntake, notFoundAt, ownerOf } from './message-intake.js';
import type { Accepted } from './accepted.js';
import { AnswerAdmission } from './answer-admission.js';
import { ServedCards } from './cards/served-cards.js';
import { PushNotifications } from './push-notifications.js';
import { decodePageToken, encodePageToken } from './page-token.js';
import { publicError } from './public-error.js';
import { meantAgent } from './tenant-agent.js';
import { messageItem, type StreamItem, taskItem } from './stream-item.js';
import { type Beginning, TaskItems } from './task-items.js';
import { type SubscriptionOptions, TaskSubscription } from './task-subscription.js';

const DEFAULT_PAGE_SIZE = 50;

type AddressedCall = Pick<CallContext, 'agent' | 'scope' | 'revision' | 'revisionClaim'>;

/**
 * The operations of A2A 1.0 (section 3.1), independent of any binding. Requests are valid ones: a binding has parsed
 * them. Operations throw A2AError, or UnknownAgent where a Task's own agent is gone; anything else is a fault of ours that no caller may see.
 */
@Injectable()
export class RequestHandler {
  /** The operations on push notification configs. */
  readonly push: PushNotifications;
  private readonly intake: MessageIntake;
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
    this.push = new PushNotifications((agent, taskId, call) => this.find(agent, taskId, call), configs);
    this.intake = new MessageIntake(catalog, executions, tasks, this.push);
    this.subscription = new TaskSubscription(tasks, feed);
  }

  /**
   * The agent that a call addresses, for the operations below: its newest revision, or for a run the one that the run
   * was started with.
   * @throws A2AError where there is none, and where the call claims a revision that it may not ask for
   */
  async agent(call: AddressedCall): Promise<ServedAgent> {
    const { agent, scope } = call;
    const claimed = this.claimedRevision(call);
    try {
      return await this.catalog.inTenant(scope.tenant).resolve(agent, claimed);
    } catch (error) {
      throw known(error);
    }
  }

  /**
   * The same for what is done with Tasks that are there, whatever became of their agent: where it is gone, what stands for
   * it, which has no Tasks but those.
   * @throws A2AError where the call claims a revision that it may not ask for
   */
  async agentOfTasks(call: AddressedCall): Promise<ServedAgent> {
    const { agent, scope } = call;
    const claimed = this.claimedRevision(call);
    const find = (): Promise<ServedAgent> => this.catalog.inTenant(scope.tenant).resolve(agent, claimed);
    return agentOrGone(find, agent, claimed);
  }

  /**
   * What is done for a Message, or for a Task that is read, at the agent as this process knows it: without a query, and
   * again at its newest revision where that is another one by then.
   */
  async atRecent(call: CallContext, act: (agent: ServedAgent) => Promise<void>): Promise<void> {
    const recent = isPlain(call) ? this.catalog.inTenant(call.scope.tenant).recent?.(call.agent) : undefined;
    try {
      if (recent) return await act(recent);
    } catch (error) {
      if (!(error instanceof PremiseFailed)) throw error;
    }
    return act(await this.agentOfTasks(call));
  }

  private claimedRevision({ agent, scope, revision, revisionClaim }: AddressedCall): string | undefined {
    return revisionClaim === undefined ? revision : this.claims?.read({ agent, scope }, revisionClaim);
  }

  /** The agent whose Tasks a request means: `meantAgent`. */
  meant(agent: ServedAgent, request: { tenant?: string }, call: AddressedCall): Promise<ServedAgent> {
    return meantAgent(this.catalog, agent, request, call);
  }

  /** What becomes of a Message, before it is durable. @throws as MessageIntake does */
  accept(agent: ServedAgent, request: SendMessageRequest, call: CallContext): Promise<Accepted> {
    return this.intake.accept(agent, request, call);
  }

  /** Answers when the Task has ended or waits, or at once with `returnImmediately` (section 3.2.2). */
  async sendMessage(agent: ServedAgent, request: SendMessageRequest, call: CallContext): Promise<SendMessageResponse> {
    const admission = new AnswerAdmission(this.room, call);
    const accepted = await this.intake.accept(agent, request, { ...call, admission });
    if ('reply' in accepted) return { message: accepted.reply };
    const { execution } = accepted;
    const { returnImmediately, historyLength } = request.configuration ?? {};
    const task = returnImmediately ? (await execution.accepted).task : await this.settled(execution, call, admission);
    return { task: withHistoryLength(task, historyLength) };
  }

  /**
   * The Task as it was accepted, then every event until it ends or waits; or one direct Message.
   * A refusal is thrown as the stream is opened, or by the first `next()`. Ending the stream early does not touch the Task.
   */
  sendStreamingMessage(
    agent: ServedAgent,
    request: SendMessageRequest,
    call: CallContext,
    signal?: AbortSignal,
  ): AsyncGenerator<StreamItem, void, undefined> {
    return new TaskItems(this.feed, () => this.begun(agent, request, call), signal);
  }

  async getTask(agent: ServedAgent, request: GetTaskRequest, call: CallContext): Promise<Task> {
    const admission = new AnswerAdmission(this.room, call);
    const stored = await this.tasks.load(request.id, call.scope, admission, agent.premise);
    if (!stored || !isFoundAt(agent, stored.header)) throw notFoundAt(agent, request.id);
    return withHistoryLength(stored.task, request.historyLength);
  }

  /** The caller's Tasks at this agent, or of every agent at the service; newest status first (section 3.1.4). */
  async listTasks(agent: ServedAgent, request: ListTasksRequest, call: CallContext): Promise<ListTasksResponse> {
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
        this.tasks.page({ ...filter, artifacts, before, limit: pageSize }, new AnswerAdmission(this.room, call)),
        this.tasks.count(filter),
      ]),
    );
    if (agent.gone && totalSize === 0) throw agent.gone;
    const last = tasks.at(-1);
    return {
      tasks: tasks.map((stored) => asListed(stored.task, request)),
      nextPageToken: last && more ? encodePageToken(last.header) : '',
      pageSize,
      totalSize,
    };
  }

  /**
   * Returns the Task once its cancellation is durable.
   * @param gone aborts when the caller waits no longer, which does not take the cancel back
   * @throws the reason of `gone`
   */
  async cancelTask(
    agent: ServedAgent,
    request: CancelTaskRequest,
    call: CallContext,
    gone = callerGone(call),
  ): Promise<Task> {
    const header = await this.find(agent, request.id, call);
    const { state } = header;
    if (isTerminalState(state)) {
      throw new A2AError('TASK_NOT_CANCELABLE', {
        message: `The task has already ended (${state})`,
        metadata: { taskId: request.id, state },
      });
    }
    return this.executions.cancel(await ownerOf(this.catalog, this.tasks, agent, header), request.id, call, gone);
  }

  /** See TaskSubscription for what a cursor does. A refusal is thrown as by sendStreamingMessage. */
  subscribeToTask(
    agent: ServedAgent,
    request: SubscribeToTaskRequest,
    call: CallContext,
    options: SubscriptionOptions = {},
  ): AsyncGenerator<StreamItem, void, undefined> {
    return this.subscription.follow(
      async () => {
        const at = await this.meant(agent, request, call);
        const log = await this.tasks.log(request.id, call.scope, agent.premise);
        if (!log || !isFoundAt(at, log.header)) throw notFoundAt(at, request.id);
        return log;
      },
      options,
      new AnswerAdmission(this.room, call),
    );
  }

  /** What the caller may know of the agent beyond its public card (section 3.1.11). */
  extendedAgentCard(agent: ServedAgent, call: CallContext): Promise<AgentCard> {
    if (agent.gone) throw agent.gone;
    return this.cards.extendedCard(agent, call);
  }

  private async begun(agent: ServedAgent, request: SendMessageRequest, call: CallContext): Promise<Beginning> {
    const admission = new AnswerAdmission(this.room, call);
    const accepted = await this.intake.accept(agent, request, { ...call, admission });
    if ('reply' in accepted) return { opening: [messageItem(accepted.reply)] };
    const { taskId, accepted: durable } = accepted.execution;
    const { task, sequence } = await durable;
    const opening = [taskItem(withHistoryLength(task, request.configuration?.historyLength), sequence)];
    return { opening, room: admission, log: { taskId, after: sequence, until: 'waiting' } };
  }

  private async find(agent: ServedAgent, taskId: string, call: CallContext): Promise<TaskHeader> {
    const header = await this.tasks.header(taskId, call.scope);
    if (!header || !isFoundAt(agent, header)) throw notFoundAt(agent, taskId);
    return header;
  }

  /**
   * Returns the Task in its next terminal or waiting state, also when another process brings it there.
   * @throws ClientLeft: nothing follows a Task for a caller that has gone
   */
  private async settled(execution: Execution, call: CallContext, admission: LogAdmission): Promise<Task> {
    await execution.accepted;
    try {
      return await execution.settled;
    } catch (error) {
      if (!(error instanceof ExecutionInterrupted)) throw error;
    }
    const { sequence } = await execution.accepted;
    const signal = callerGone(call);
    const events = this.feed.follow(execution.taskId, sequence, { until: 'waiting', signal });
    while (!(await events.next()).done);
    signal?.throwIfAborted();
    const stored = await this.tasks.load(execution.taskId, call.scope, admission);
    if (!stored) throw new Error(`Task ${execution.taskId} vanished`);
    return stored.task;
  }
}

/** Whether what comes of a Message hangs on nothing that is asked of the agent before its Task is made. */
function isPlain({ revision, revisionClaim, idempotencyKey, extensions }: CallContext): boolean {
  return (revision ?? revisionClaim ?? idempotencyKey) === undefined && extensions.length === 0;
}

/** What a caller may know of an error, as HTTP tells it; anything else is a fault of ours and stays what it is. */
function known(error: unknown): unknown {
  return error instanceof A2AError || error instanceof UnknownAgent ? publicError(error) : error;
}

/** The Task with at most `historyLength` of its newest Messages; absent: all; 0: no `history` (section 3.2.4). */
function withHistoryLength(task: Task, historyLength: number | undefined): Task {
  if (historyLength === undefined || task.history === undefined) return task;
  if (historyLength >= task.history.length) return task;
  const { history, ...rest } = task;
  return historyLength === 0 ? rest : { ...rest, history: history.slice(-historyLength) };
}

/** The Task as ListTasks shows it: `artifacts` is absent unless asked for, then always present (section 3.1.4). */
function asListed(task: Task, options: { historyLength?: number; includeArtifacts?: boolean }): Task {
  const { artifacts, ...rest } = withHistoryLength(task, options.historyLength);
  return options.includeArtifacts ? { ...rest, artifacts: artifacts ?? [] } : rest;
}
