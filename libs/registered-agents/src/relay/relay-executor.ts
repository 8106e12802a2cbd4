import { randomUUID } from 'node:crypto';
import { AgentExecutor, type CallContext, type RequestContext, TaskCanceled } from '#libs/agents';
import { cancelTask } from '#libs/durable';
import { retryWhileUnreachable } from '#libs/postgres';
import { isTerminalState, type Message, type SendMessageRequest, type Task, type TaskReference } from '#libs/protocol';
import type { RelayedTurn, TaskEvent } from '#libs/tasks';
import { checkPolicy } from '../agents/agent-policy.js';
import type { RegisteredAgent } from '../agents/registered-agents.js';
import { openTurn } from './opened-turn.js';
import { identityOf, type RelayServices, turnOptions } from './relay-request.js';
import { relayedTurn, type StoredTurn } from './relay-tasks.js';
import { deleteWebhook } from './relay-parking.js';
import { RelayTurn } from './relay-turn.js';
import { TaskMirror } from './task-mirror.js';

/**
 * Maximum milliseconds to learn, after a cancel, how the agent's Task has ended. The Task of this service ends in the
 * same state; after this time it ends as CANCELED.
 */
const CANCEL_MS = 12_000;
/** Maximum milliseconds for reading the stored turn, with retries while the database is unreachable. */
const FIND_MS = 3_000;
/** Maximum milliseconds for reading the agent's Task after a cancel. */
const LOOK_MS = 4_000;

/**
 * Executor of a registered agent: passes the caller's Messages on to the agent, and the agent's events on to the
 * caller, unchanged except for the ids.
 * - The Message is durable before the agent gets it, and every event before the caller gets it.
 * - Callers see ids of Tasks and contexts that this service has assigned; the agent sees its own.
 * - A cancel goes to the agent. If the agent's Task has ended otherwise, the Task here ends in the same state.
 */
export class RelayExecutor extends AgentExecutor {
  override readonly recovery = 'restart';
  override readonly cancelGrace = CANCEL_MS;

  constructor(
    private readonly agent: RegisteredAgent,
    private readonly services: RelayServices,
  ) {
    super();
  }

  /**
   * Returns the Message with which the agent answered directly, without a Task of its own; `undefined` if the Task has
   * any other content. Such a Message is recognized because it has no `taskId`: a Message in the status of a Task has
   * one.
   */
  override directReply({ status, artifacts, history = [] }: Task): Message | undefined {
    const { state, message } = status;
    if (state !== 'TASK_STATE_COMPLETED' || message === undefined || message.taskId !== undefined) return undefined;
    return artifacts === undefined && history.length === FIRST_ANSWER ? message : undefined;
  }

  override checkRequest(request: SendMessageRequest, call: CallContext): void {
    checkPolicy(this.agent.policy, request, call);
  }

  override relayedTurn(request: SendMessageRequest, call: CallContext, { contextId }: TaskReference): RelayedTurn {
    const { message, metadata, configuration } = request;
    const { agent } = this;
    const { acceptedOutputModes } = configuration ?? {};
    return relayedTurn(
      { scope: call.scope, agent: agent.name },
      {
        contextId,
        messageId: message.messageId,
        options: turnOptions(agent.policy, { call, metadata, acceptedOutputModes }),
        execution: randomUUID(),
      },
      !message.contextId,
    );
  }

  async *execute(context: RequestContext): AsyncIterable<TaskEvent> {
    const { agent, services } = this;
    if (isCanceled(context)) return yield* new RelayCancel(agent, services, context).endTask();
    let turn: RelayTurn | undefined;
    try {
      turn = new RelayTurn(agent, services, context, await openTurn(agent, services, context));
      yield* turn.runTurn();
    } catch (error) {
      if (!isCanceled(context)) throw error;
      yield* new RelayCancel(agent, services, context, turn?.turn).endTask();
    } finally {
      turn?.endCleanly();
      // The events that bring the ids may be dropped, and the next execution must find the agent's Task.
      if (context.signal.aborted && !isCanceled(context)) await turn?.storeIds().catch(() => undefined);
    }
  }
}

/**
 * Number of Messages in the history of a Task to which the agent answered with a direct Message: the caller's Message
 * and this answer.
 */
const FIRST_ANSWER = 2;

function isCanceled({ signal }: RequestContext): boolean {
  return signal.reason instanceof TaskCanceled;
}

/**
 * Cancels the Task at the agent, after a caller has canceled the Task that stands for it here.
 * - If the agent's Task has ended, the Task here ends the same way: the agent may have completed it before the cancel.
 * - Otherwise the Task here ends as CANCELED.
 */
class RelayCancel {
  constructor(
    private readonly agent: RegisteredAgent,
    private readonly services: RelayServices,
    private readonly context: RequestContext,
    /** Turn that this execution has opened; absent if it has not opened one, and the stored turn is read instead. */
    private readonly known?: StoredTurn,
  ) {}

  /** Cancels the agent's Task and yields its last events, if they can be read. Never throws. */
  async *endTask(): AsyncGenerator<TaskEvent, void, undefined> {
    for (const event of await this.readLastEvents().catch(() => [])) yield event;
  }

  private async readLastEvents(): Promise<TaskEvent[]> {
    const { agent, context, services } = this;
    const { known } = this;
    const turn = known?.remoteTaskId === undefined ? await this.findTurn() : known;
    if (turn?.remoteTaskId === undefined) return [];
    const { remoteTaskId } = turn;
    const identity = identityOf(agent, context, turn.options);
    await cancelTask(services.directory, agent.url, remoteTaskId, identity);
    if (turn.hasWebhook) void deleteWebhook({ agent, context, services, turn });
    const options = { ...identity, timeouts: { refused: 0, total: LOOK_MS }, signal: AbortSignal.timeout(LOOK_MS) };
    const client = await services.directory.resolveClient(agent.url, options);
    const task = await client.getTask(remoteTaskId, options);
    if (!isTerminalState(task.status.state)) return [];
    return new TaskMirror(context, await context.readTaskLog()).toEvents({ task });
  }

  private findTurn(): Promise<StoredTurn | undefined> {
    const { context, services } = this;
    const find = (): Promise<StoredTurn | undefined> => services.tasks.findTurn(context.taskId);
    return retryWhileUnreachable(find, AbortSignal.timeout(FIND_MS));
  }
}
