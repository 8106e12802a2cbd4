import type { JournalSource, TaskJournal, WaitingEvent } from '../journal/task-journal.js';
import type { JournalEntry, JournalOutcome } from '../store/task-store.js';

/** Test store whose statements wait until the test answers them one by one. */
export class HeldStore {
  readonly batches: { entries: readonly JournalEntry[]; answer(outcome: unknown): void }[] = [];
  /** Contents of the logs: the JSON of their events, by Task id. */
  logs: Record<string, string[]> = {};
  /** True if the store takes no writes at all. */
  away = false;
  /** Number of next reads of logs that fail. */
  unreadable = 0;
  private notify: (() => void) | undefined;

  writeBatch(entries: readonly JournalEntry[]): Promise<JournalOutcome[]> {
    return new Promise((resolve, reject) => {
      const answer = (outcome: unknown): void => {
        if (outcome instanceof Error) reject(outcome);
        else resolve(outcome as JournalOutcome[]);
      };
      this.batches.push({ entries, answer });
      this.notify?.();
    });
  }

  get retries(): this {
    return this;
  }

  probeWrite(): Promise<void> {
    return this.away ? Promise.reject(new Error('Connection refused')) : Promise.resolve();
  }

  readRecordedEvents(taskId: string, after: number, limit: number): Promise<{ json: string }[]> {
    if (this.unreadable > 0) {
      this.unreadable -= 1;
      return Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
    }
    return Promise.resolve((this.logs[taskId] ?? []).slice(after, after + limit).map((json) => ({ json })));
  }

  /** Returns no events: a follower that is behind reads the store, and finds nothing. */
  async readEvents(): Promise<[]> {
    return [];
  }

  async lastSequences(): Promise<Map<string, number>> {
    return new Map();
  }

  async batch(index: number): Promise<(typeof this.batches)[number]> {
    while (this.batches.length <= index) {
      await new Promise<void>((resolve) => {
        this.notify = resolve;
      });
    }
    return this.batches[index]!;
  }
}

/** Journal source for tests. Its events have no content, and the outcomes of its entries are recorded. */
export class JournaledTask implements JournalSource {
  readonly outcomes: unknown[] = [];
  account = '';
  waitingEvents: WaitingEvent[] = [];
  private drained = 0;
  private readonly waiters: (() => void)[] = [];

  /** @param parentTaskId Task that calls this one; if given, this Task is created with its first event */
  constructor(
    readonly taskId: string,
    private readonly journal: TaskJournal,
    private readonly parentTaskId?: string,
  ) {}

  record(bytes = 2): void {
    this.waitingEvents.push({ mark: this.journal.enqueueEvent(this, bytes), bytes });
  }

  drainEntry(upTo = Number.POSITIVE_INFINITY): JournalEntry | undefined {
    const count = this.waitingEvents.filter(({ mark }) => mark <= upTo).length;
    if (count === 0) return undefined;
    const after = this.drained;
    this.drained += count;
    this.waitingEvents = this.waitingEvents.slice(count);
    const events = Array.from({ length: count }, (_, index) => ({
      taskId: this.taskId,
      sequence: after + index + 1,
      event: { artifactUpdate: { taskId: this.taskId, contextId: 'c', artifact: { artifactId: 'a', parts: [] } } },
      json: '{}',
    }));
    const [token, state] = ['k', 'TASK_STATE_WORKING' as const];
    const create = after === 0 && this.parentTaskId !== undefined ? this.creation(this.parentTaskId) : undefined;
    const entry = { taskId: this.taskId, contextId: 'c', token, after, events, state, updatedAt: new Date() };
    return create ? { ...entry, create } : entry;
  }

  private creation(parentTaskId: string): NonNullable<JournalEntry['create']> {
    const [at, state] = [new Date(0), 'TASK_STATE_WORKING' as const];
    const scope = { tenant: '', owner: '', agent: 'workflows/w', parentTaskId };
    const header = {
      taskId: this.taskId,
      contextId: 'c',
      ...scope,
      state,
      lastSequence: 0,
      createdAt: at,
      updatedAt: at,
    };
    return { header, replicaId: 'r' };
  }

  settleEntry(_entry: JournalEntry, outcome: unknown): void {
    this.outcomes.push(outcome);
    for (const wake of this.waiters.splice(0)) wake();
  }

  async outcome(index: number): Promise<unknown> {
    while (this.outcomes.length <= index) await new Promise<void>((resolve) => this.waiters.push(resolve));
    return this.outcomes[index];
  }
}
