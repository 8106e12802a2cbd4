import { cancelTask } from '#libs/durable';
import type { RequestContext } from '#libs/agents';
import { retryWhileUnreachable } from '#libs/postgres';
import { isTerminalState } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { RegisteredAgent } from '../agents/registered-agents.js';
import { identityOf, type RelayServices } from './relay-request.js';
import type { StoredTurn } from './relay-tasks.js';
import { TaskMirror } from './task-mirror.js';

/** Milliseconds for reading the stored turn, also while the database is away. */
const FIND_MS = 3_000;
/** Milliseconds for reading the agent's Task after a cancel. */
const LOOK_MS = 4_000;

/**
 * Cancels the agent's Task of a canceled Task.
 * - If the agent's Task has ended, the Task ends the same way: it may have completed before the cancel arrived.
 * - Otherwise the Task ends as CANCELED.
 */
export class RelayCancel {
  constructor(
    private readonly agent: RegisteredAgent,
    private readonly services: RelayServices,
    private readonly context: RequestContext,
    /** Task at the agent, if this execution knows it already. */
    private readonly knownTaskId?: string,
  ) {}

  /** Cancels the agent's Task and yields its last events, if they can be read. Never throws. */
  async *endTask(): AsyncGenerator<TaskEvent, void, undefined> {
    for (const event of await this.readLastEvents().catch(() => [])) yield event;
  }

  private async readLastEvents(): Promise<TaskEvent[]> {
    const { agent, context, services } = this;
    const remoteTaskId = this.knownTaskId ?? (await this.findTaskId());
    if (remoteTaskId === undefined) return [];
    const identity = identityOf(agent, context);
    await cancelTask(services.directory, agent.url, remoteTaskId, identity);
    const options = { ...identity, timeouts: { refused: 0, total: LOOK_MS }, signal: AbortSignal.timeout(LOOK_MS) };
    const client = await services.directory.resolveClient(agent.url, options);
    const task = await client.getTask(remoteTaskId, options);
    if (!isTerminalState(task.status.state)) return [];
    return new TaskMirror(context, await context.readTaskLog()).toEvents({ task });
  }

  private async findTaskId(): Promise<string | undefined> {
    const { context, services } = this;
    const find = (): Promise<StoredTurn | undefined> => services.tasks.findTurn(context.taskId);
    return (await retryWhileUnreachable(find, AbortSignal.timeout(FIND_MS)))?.remoteTaskId;
  }
}
