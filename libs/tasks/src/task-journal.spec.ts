import type { JournalEntry, JournalOutcome, TaskStore } from './task-store.js';
import { type JournalSource, TaskJournal } from './task-journal.js';

/** A store whose statements the test lets through one by one. */
class HeldStore {
  readonly batches: { entries: readonly JournalEntry[]; answer(outcome: unknown): void }[] = [];
  /** What the logs hold, as the JSON of their events. */
  logs: Record<string, string[]> = {};
  private notify: (() => void) | undefined;

  write(entries: readonly JournalEntry[]): Promise<JournalOutcome[]> {
    return new Promise((resolve, reject) => {
      const answer = (outcome: unknown): void => {
        if (outcome instanceof Error) reject(outcome);
        else resolve(outcome as JournalOutcome[]);
      };
      this.batches.push({ entries, answer });
      this.notify?.();
    });
  }

  lastSequences(): Promise<Map<string, number>> {
    return Promise.resolve(new Map(Object.entries(this.logs).map(([taskId, log]) => [taskId, log.length])));
  }

  events(taskId: string, after: number, limit: number): Promise<{ json: string }[]> {
    return Promise.resolve((this.logs[taskId] ?? []).slice(after, after + limit).map((json) => ({ json })));
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

/** A task whose events are mere counts. */
class Source implements JournalSource {
  readonly outcomes: unknown[] = [];
  private recorded = 0;
  private drained = 0;
  private readonly waiters: (() => void)[] = [];

  constructor(
    readonly taskId: string,
    private readonly journal: TaskJournal,
  ) {}

  record(): void {
    this.recorded += 1;
    this.journal.enqueue(this);
  }

  drain(): JournalEntry | undefined {
    if (this.recorded === this.drained) return undefined;
    const after = this.drained;
    this.drained = this.recorded;
    const events = Array.from({ length: this.recorded - after }, (_, index) => ({
      taskId: this.taskId,
      sequence: after + index + 1,
      event: { artifactUpdate: { taskId: this.taskId, contextId: 'c', artifact: { artifactId: 'a', parts: [] } } },
      json: '{}',
    }));
    return { taskId: this.taskId, token: 'k', after, events, state: 'TASK_STATE_WORKING', updatedAt: new Date() };
  }

  settle(_entry: JournalEntry, outcome: unknown): void {
    this.outcomes.push(outcome);
    for (const wake of this.waiters.splice(0)) wake();
  }

  async outcome(index: number): Promise<unknown> {
    while (this.outcomes.length <= index) await new Promise<void>((resolve) => this.waiters.push(resolve));
    return this.outcomes[index];
  }
}

function setUp(): { store: HeldStore; source(taskId: string): Source } {
  const store = new HeldStore();
  const journal = new TaskJournal(
    store as unknown as TaskStore,
    { batchWritten: () => undefined, reached: () => undefined, writeRefused: () => undefined } as never,
  );
  return { store, source: (taskId) => new Source(taskId, journal) };
}

describe('TaskJournal', () => {
  it('writes everything that arrived together as one batch', async () => {
    const { store, source } = setUp();
    const sources = ['a', 'b', 'c'].map(source);
    for (const it of sources) it.record();
    sources[0]!.record();
    const { entries, answer } = await store.batch(0);
    expect(entries.map((entry) => [entry.taskId, entry.events.length])).toEqual([
      ['a', 2],
      ['b', 1],
      ['c', 1],
    ]);
    answer(['written', 'fenced', 'written']);
    expect(await Promise.all(sources.map((it) => it.outcome(0)))).toEqual(['written', 'fenced', 'written']);
  });

  it('has a second batch under way, and settles what came first first', async () => {
    const { store, source } = setUp();
    const [task, other] = [source('a'), source('b')];
    task.record();
    const first = await store.batch(0);
    other.record();
    task.record();
    task.record();
    const second = await store.batch(1);
    expect(second.entries.map((entry) => [entry.taskId, entry.after, entry.events.length])).toEqual([
      ['b', 0, 1],
      ['a', 1, 2],
    ]);
    other.record();
    second.answer(['written', 'written']);
    await new Promise((resolve) => setImmediate(resolve));
    expect([task.outcomes, other.outcomes, store.batches.length]).toEqual([[], [], 2]);
    first.answer(['written']);
    expect(await task.outcome(1)).toBe('written');
    (await store.batch(2)).answer(['written']);
    expect(await other.outcome(1)).toBe('written');
  });

  it('writes again what was fenced only because the batch before it was in trouble', async () => {
    const { store, source } = setUp();
    const [task, bad] = [source('a'), source('bad')];
    task.record();
    bad.record();
    const first = await store.batch(0);
    task.record();
    const second = await store.batch(1);
    const refusal = Object.assign(new Error('invalid input syntax for type json'), { code: '22P02' });
    first.answer(refusal);
    second.answer(['fenced']);
    (await store.batch(2)).answer(['written']);
    (await store.batch(3)).answer(refusal);
    const again = await store.batch(4);
    expect(again.entries.map((entry) => [entry.taskId, entry.after])).toEqual([['a', 1]]);
    again.answer(['written']);
    expect(await task.outcome(1)).toBe('written');
    expect(await bad.outcome(0)).toEqual({ failed: refusal });
  });

  it('fails only the entry whose data the database refuses', async () => {
    const { store, source } = setUp();
    const [good, bad] = [source('good'), source('bad')];
    good.record();
    bad.record();
    const refusal = Object.assign(new Error('invalid input syntax for type json'), { code: '22P02' });
    (await store.batch(0)).answer(refusal);
    (await store.batch(1)).answer(['written']);
    (await store.batch(2)).answer(refusal);
    expect(await good.outcome(0)).toBe('written');
    expect(await bad.outcome(0)).toEqual({ failed: refusal });
  });

  it('recognises a commit whose answer was lost, and writes only what is missing', async () => {
    const { store, source } = setUp();
    const [committed, missing, foreign] = [source('committed'), source('missing'), source('foreign')];
    for (const it of [committed, missing, foreign]) it.record();
    store.logs = { committed: ['{}'], foreign: Array(7).fill('{}') };
    (await store.batch(0)).answer(new Error('Connection terminated unexpectedly'));
    const again = await store.batch(1);
    expect(again.entries.map((entry) => entry.taskId)).toEqual(['missing']);
    again.answer(['written']);
    expect(await committed.outcome(0)).toBe('written');
    expect(await missing.outcome(0)).toBe('written');
    expect(await foreign.outcome(0)).toBe('fenced');
  });

  it('does not take as much of another writer for its own', async () => {
    const { store, source } = setUp();
    const task = source('taken over');
    task.record();
    store.logs = { 'taken over': ['{"by":"another"}'] };
    (await store.batch(0)).answer(new Error('Connection terminated unexpectedly'));
    expect(await task.outcome(0)).toBe('fenced');
  });

  it('lets nothing overtake a batch whose answer was lost', async () => {
    const { store, source } = setUp();
    const [lost, later] = [source('lost'), source('later')];
    lost.record();
    (await store.batch(0)).answer(new Error('Connection terminated unexpectedly'));
    await new Promise((resolve) => setImmediate(resolve));
    later.record();
    const again = await store.batch(1);
    expect(again.entries.map((entry) => entry.taskId)).toEqual(['lost']);
    again.answer(['written']);
    const next = await store.batch(2);
    expect(next.entries.map((entry) => entry.taskId)).toEqual(['later']);
    next.answer(['written']);
    expect(await later.outcome(0)).toBe('written');
  });
});
