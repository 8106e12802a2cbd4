import type { TaskState } from '#libs/protocol';
import {
  applyTaskEvent,
  type RevisionPrecondition,
  PreconditionFailed,
  type RecordedEvent,
  type StoredTask,
  type TaskEvent,
  type TaskFilter,
  type TaskHeader,
  type TaskLog,
  type TaskPage,
  type TaskQuery,
  type TaskScope,
  TaskStore,
  toStreamResponse,
} from '#libs/tasks';

/** Store of Tasks in memory, for tests of code that reads Tasks. Only `append` writes. */
export class MemoryTaskStore extends TaskStore {
  private readonly rows = new Map<string, StoredTask>();
  private readonly logs = new Map<string, RecordedEvent[]>();
  /**
   * Decides whether the revision that a read requires (`premise`) is still the newest; true unless a test replaces
   * it.
   */
  isNewest: (premise: RevisionPrecondition) => boolean = () => true;

  get size(): number {
    return this.rows.size;
  }

  /** Records an event of a Task; the first event of a Task needs a header. */
  append(taskId: string, event: TaskEvent, header?: TaskHeader): RecordedEvent {
    const row = this.rows.get(taskId);
    const log = this.logs.get(taskId) ?? [];
    const task = applyTaskEvent(row?.task, event);
    const known = row?.header ?? header;
    if (!known) throw new Error(`Task ${taskId} has no header`);
    const sequence = log.length + 1;
    const recorded = { taskId, sequence, event, json: JSON.stringify(toStreamResponse(event)) };
    const updatedAt = new Date(task.status.timestamp ?? 0);
    this.logs.set(taskId, [...log, recorded]);
    this.rows.set(taskId, { task, header: { ...known, state: task.status.state, lastSequence: sequence, updatedAt } });
    return recorded;
  }

  /** Returns a stored Task. @throws Error if the Task is missing */
  held(taskId: string): StoredTask {
    const row = this.rows.get(taskId);
    if (!row) throw new Error(`Task ${taskId} is missing`);
    return row;
  }

  override probeWrite(): Promise<void> {
    return Promise.resolve();
  }

  override async loadTask(
    taskId: string,
    scope?: TaskScope,
    _admission?: unknown,
    premise?: RevisionPrecondition,
  ): Promise<StoredTask | undefined> {
    const row = this.rows.get(taskId);
    const found = row && (!scope || inScope(row.header, scope)) ? row : undefined;
    this.check(premise, found);
    return found;
  }

  override async readLog(
    taskId: string,
    scope?: TaskScope,
    premise?: RevisionPrecondition,
  ): Promise<TaskLog | undefined> {
    const header = await this.readHeader(taskId, scope);
    this.check(premise, header);
    return header && { header, events: this.logs.get(taskId) ?? [] };
  }

  private check(premise: RevisionPrecondition | undefined, found: unknown): void {
    if (premise && !(found && this.isNewest(premise))) throw new PreconditionFailed();
  }

  override async readHeader(taskId: string, scope?: TaskScope): Promise<TaskHeader | undefined> {
    const row = this.rows.get(taskId);
    return row && (!scope || inScope(row.header, scope)) ? row.header : undefined;
  }

  override async readEvents(taskId: string, afterSequence: number, limit: number): Promise<RecordedEvent[]> {
    return (this.logs.get(taskId) ?? []).slice(afterSequence, afterSequence + limit);
  }

  override async findTasks(query: TaskQuery): Promise<StoredTask[]> {
    const { before, limit } = query;
    const matching = this.matching(query);
    return (before ? matching.filter(({ header }) => comparePlaces(header, before) < 0) : matching).slice(0, limit);
  }

  override async readPage(query: TaskQuery): Promise<TaskPage> {
    const tasks = await this.findTasks({ ...query, limit: query.limit + 1 });
    return { tasks: tasks.slice(0, query.limit), more: tasks.length > query.limit };
  }

  override async countTasks(filter: TaskFilter): Promise<number> {
    return this.matching(filter).length;
  }

  override completedBefore(): Promise<never> {
    throw new Error('Not part of this fake');
  }

  private matching({ scope, agent, contextId, state, states, updatedAfter, updatedBefore }: TaskFilter): StoredTask[] {
    return [...this.rows.values()]
      .filter(({ header }) => inScope(header, scope))
      .filter(({ header }) => agent === undefined || header.agent === agent)
      .filter(({ header }) => contextId === undefined || header.contextId === contextId)
      .filter(({ header }) => state === undefined || header.state === state)
      .filter(({ header }) => states?.includes(header.state) ?? true)
      .filter(({ header }) => updatedBefore === undefined || header.updatedAt < updatedBefore)
      .filter(({ header }) => updatedAfter === undefined || header.updatedAt >= updatedAfter)
      .toSorted((a, b) => comparePlaces(b.header, a.header));
  }

  override async readHeaders(taskIds: readonly string[]): Promise<Map<string, TaskHeader>> {
    const known = taskIds.flatMap((taskId) => this.rows.get(taskId)?.header ?? []);
    return new Map(known.map((header) => [header.taskId, header]));
  }

  override async lastSequences(taskIds: readonly string[]): Promise<Map<string, number>> {
    return new Map(taskIds.map((taskId) => [taskId, this.logs.get(taskId)?.length ?? 0]));
  }

  override writeBatch(): Promise<never> {
    throw new Error('Not part of this fake');
  }

  override claimTask(): Promise<never> {
    throw new Error('Not part of this fake');
  }

  override findOverdue(): Promise<never> {
    throw new Error('Not part of this fake');
  }

  override adoptTasks(): Promise<never> {
    throw new Error('Not part of this fake');
  }

  override listClaims(): Promise<never> {
    throw new Error('Not part of this fake');
  }

  override isClaimHeld(): Promise<never> {
    throw new Error('Not part of this fake');
  }

  override renewClaims(): Promise<never> {
    throw new Error('Not part of this fake');
  }

  override listClaimants(): Promise<never> {
    throw new Error('Not part of this fake');
  }

  override releaseClaim(): Promise<never> {
    throw new Error('Not part of this fake');
  }

  override requestCancel(): Promise<never> {
    throw new Error('Not part of this fake');
  }

  override cancelRequests(): Promise<never> {
    throw new Error('Not part of this fake');
  }

  override findKeyedRequest(): Promise<never> {
    throw new Error('Not part of this fake');
  }

  override listChildren(): Promise<never> {
    throw new Error('Not part of this fake');
  }
}

/** Creates the header of a Task that a test writes itself. */
export function taskHeader(fields: Partial<TaskHeader> & { taskId: string }): TaskHeader {
  const state: TaskState = 'TASK_STATE_SUBMITTED';
  const times = { createdAt: new Date(0), updatedAt: new Date(0) };
  return {
    contextId: 'context',
    agent: 'workflows/echo',
    tenant: '',
    owner: '',
    state,
    lastSequence: 0,
    ...times,
    ...fields,
  };
}

function inScope(header: TaskHeader, scope: TaskScope): boolean {
  return header.tenant === scope.tenant && header.owner === scope.owner;
}

function comparePlaces(a: { updatedAt: Date; taskId: string }, b: { updatedAt: Date; taskId: string }): number {
  return a.updatedAt.getTime() - b.updatedAt.getTime() || (a.taskId < b.taskId ? -1 : Number(a.taskId > b.taskId));
}
