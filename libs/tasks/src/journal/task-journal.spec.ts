import { submittedTask, userMessage } from '#libs/protocol';
import { loadConfig, Readiness } from '#libs/service';
import {
  ClaimLost,
  type JournalEntry,
  PreconditionFailed,
  type TaskHeader,
  type TaskStore,
} from '../store/task-store.js';
import { HeldStore, JournaledTask } from '../testing/held-store.js';
import { TaskJournal } from './task-journal.js';
import { TaskRecording } from './task-recording.js';

function setUp(env: Record<string, string> = {}): {
  store: HeldStore;
  journal: TaskJournal;
  readiness: Readiness;
  source(taskId: string): JournaledTask;
} {
  const store = new HeldStore();
  const readiness = new Readiness();
  const ignore = (): void => undefined;
  const metrics = { batchWritten: ignore, countReached: ignore, writeRefused: ignore, watchJournal: ignore };
  const journal = new TaskJournal(store as unknown as TaskStore, metrics as never, loadConfig(env), readiness);
  return { store, journal, readiness, source: (taskId) => new JournaledTask(taskId, journal) };
}

/** Records a new Task whose precondition (`premise`) has not been checked in the database. */
function madeOnPremise(journal: TaskJournal): { recording: TaskRecording; json: string } {
  const ignore = (): void => undefined;
  const limits = { event: Infinity, artifact: Infinity, log: Infinity };
  const services = {
    journal,
    feed: { publishEvents: ignore, closeTask: ignore },
    inFlight: { addBytes: ignore },
    limits,
  };
  const at = new Date(0);
  const header: TaskHeader = {
    ...{ taskId: 't', contextId: 'c', tenant: '', owner: '', agent: 'workflows/w' },
    ...{ state: 'TASK_STATE_SUBMITTED', lastSequence: 0, createdAt: at, updatedAt: at },
  };
  const premise = { relation: 'workflow_newest', tenant: '', name: 'w', version: '1' } as const;
  const create = { header, replicaId: 'r', premise };
  const recording = new TaskRecording(services as never, { header, token: 'k', create });
  return { recording, json: recording.recordEvent({ task: submittedTask(header, userMessage('hi')) }).json };
}

function reported(entries: readonly JournalEntry[]): string[] {
  return entries.map(({ taskId, events }) => `${taskId} +${events.length}`);
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

  it('is not fenced by its own first try, where that comes through while it is tried again', async () => {
    const { store, source } = setUp();
    const [ours, foreign] = [source('ours'), source('foreign')];
    ours.record();
    foreign.record();
    (await store.batch(0)).answer(new Error('Connection terminated unexpectedly'));
    const again = await store.batch(1);
    expect(reported(again.entries)).toEqual(['ours +1', 'foreign +1']);
    store.logs = { ours: ['{}'], foreign: ['{"by":"another"}'] };
    again.answer(['fenced', 'fenced']);
    expect([await ours.outcome(0), await foreign.outcome(0)]).toEqual(['written', 'fenced']);
  });

  it.each([
    ['was made, and that another replica goes on with', ['{"status":"goes on"}'], ClaimLost],
    ['was not made, as its premise failed', undefined, PreconditionFailed],
  ])('when the answer was lost, says of a Task that it %s', async (_what, goneOn, failure) => {
    const { store, journal } = setUp();
    const { recording, json } = madeOnPremise(journal);
    (await store.batch(0)).answer(new Error('Connection terminated unexpectedly'));
    if (goneOn) store.logs = { [recording.taskId]: [json, ...goneOn] };
    else (await store.batch(1)).answer(['fenced']);
    const failed = await recording.flushEvents().catch((error: unknown) => error);
    expect(failed).toHaveProperty('constructor', failure);
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

  it('lets nothing overtake a batch that waits for one in trouble', async () => {
    const { store, source } = setUp();
    const [lost, waits, later, last] = [source('lost'), source('waits'), source('later'), source('last')];
    lost.record();
    (await store.batch(0)).answer(new Error('Connection terminated unexpectedly'));
    await new Promise((resolve) => setImmediate(resolve));
    waits.record();
    await new Promise((resolve) => setImmediate(resolve));
    for (const it of [later, last]) it.record();
    (await store.batch(1)).answer(['written']);
    const [second, third] = [await store.batch(2), await store.batch(3)];
    expect([reported(second.entries), reported(third.entries)]).toEqual([['waits +1'], ['later +1', 'last +1']]);
    second.answer(['written']);
    third.answer(['written', 'written']);
    expect(await last.outcome(0)).toBe('written');
  });

  describe('with more bytes than one batch takes', () => {
    it('takes what was recorded first, over all Tasks', async () => {
      const { store, journal, source } = setUp({ JOURNAL_BATCH_LIMIT: '1kb' });
      const [parent, child] = [source('parent'), source('child')];
      parent.record(400);
      child.record(400);
      // This event may follow from what the child has recorded, so it must not become durable before that.
      parent.record(400);
      child.record(400);
      const first = await store.batch(0);
      expect(reported(first.entries)).toEqual(['parent +1', 'child +1']);
      const second = await store.batch(1);
      expect(reported(second.entries)).toEqual(['parent +1', 'child +1']);
      expect(journal.bytes).toBe(1600);
      first.answer(['written', 'written']);
      second.answer(['written', 'written']);
      expect(await child.outcome(1)).toBe('written');
      await new Promise((resolve) => setImmediate(resolve));
      expect(journal.bytes).toBe(0);
    });

    it('has the events of another caller in its next batch, however much one caller has waiting', async () => {
      const { store, source } = setUp({ JOURNAL_BATCH_LIMIT: '1kb' });
      const flood = Array.from({ length: 20 }, (_, index) => source(`flood-${index}`));
      const other = source('other');
      other.account = 'other';
      for (const it of flood) it.record(600);
      other.record(10);
      const { entries } = await store.batch(0);
      expect(reported(entries)).toEqual(['flood-0 +1', 'other +1']);
    });

    it('has an eighth of the limit for callers that share it, and all of it for one', async () => {
      const { store, source } = setUp({ JOURNAL_BATCH_LIMIT: '8kb' });
      const own = Array.from({ length: 8 }, (_, index) => source(`own-${index}`));
      for (const it of own) it.record(1_000);
      const alone = await store.batch(0);
      expect(reported(alone.entries)).toHaveLength(8);
      const other = source('other');
      other.account = 'other';
      for (const it of own) it.record(300);
      other.record(300);
      const { entries } = await store.batch(1);
      expect(reported(entries)).toEqual(['own-0 +1', 'own-1 +1', 'other +1']);
    });

    it('takes one event of any size', async () => {
      const { store, source } = setUp({ JOURNAL_BATCH_LIMIT: '1kb' });
      const [large, small] = [source('large'), source('small')];
      large.record(5000);
      small.record(1);
      expect(reported((await store.batch(0)).entries)).toEqual(['large +1']);
      expect(reported((await store.batch(1)).entries)).toEqual(['small +1']);
    });
  });

  describe('where an entry breaks the connection', () => {
    const broken = new Error('Connection terminated unexpectedly');

    it('writes the others, and fails it alone', async () => {
      const { store, source } = setUp();
      const [good, bad] = [source('good'), source('bad')];
      good.record();
      bad.record();
      (await store.batch(0)).answer(broken);
      (await store.batch(1)).answer(broken);
      const alone = await store.batch(2);
      expect(reported(alone.entries)).toEqual(['good +1']);
      alone.answer(['written']);
      for (let index = 3; index < 7; index++) (await store.batch(index)).answer(broken);
      expect(await bad.outcome(0)).toMatchObject({ failed: { name: 'EventNotWritable', cause: broken } });
      expect(good.outcomes).toEqual(['written']);
    });

    it('recognises what was committed when the answer was lost again', async () => {
      const { store, source } = setUp();
      const [one, two] = [source('one'), source('two')];
      one.record();
      two.record();
      (await store.batch(0)).answer(broken);
      const again = await store.batch(1);
      store.logs = { one: ['{}'], two: ['{}'] };
      again.answer(broken);
      expect([await one.outcome(0), await two.outcome(0)]).toEqual(['written', 'written']);
      expect(store.batches).toHaveLength(2);
    });

    it('lets no later batch overtake what is written again because of it', async () => {
      const { store, source } = setUp();
      const [bad, x, y] = [source('bad'), source('x'), source('y')];
      for (const it of [bad, x, y]) it.record();
      const refusal = Object.assign(new Error('invalid input syntax for type json'), { code: '22P02' });
      const first = await store.batch(0);
      x.record();
      y.record();
      const second = await store.batch(1);
      first.answer(refusal);
      second.answer(['fenced', 'fenced']);
      (await store.batch(2)).answer(refusal);
      (await store.batch(3)).answer(['written', 'written']);
      const rewritten = await store.batch(4);
      expect(reported(rewritten.entries)).toEqual(['x +1', 'y +1']);
      y.record();
      await new Promise((resolve) => setImmediate(resolve));
      expect(store.batches).toHaveLength(5);
      rewritten.answer(['written', 'written']);
      const last = await store.batch(5);
      expect(reported(last.entries)).toEqual(['y +1']);
      expect(last.entries[0]?.after).toBe(2);
      last.answer(['written']);
      expect(await y.outcome(2)).toBe('written');
    });

    it('waits for a database that is away, however long, and fails nothing', async () => {
      const { store, source } = setUp();
      const task = source('a');
      task.record();
      store.away = true;
      (await store.batch(0)).answer(broken);
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(store.batches).toHaveLength(1);
      store.away = false;
      (await store.batch(1)).answer(['written']);
      expect(await task.outcome(0)).toBe('written');
    });

    it.each([
      ['could not extend file: No space left on device', '53100'],
      ['cannot execute INSERT in a read-only transaction', '25006'],
      ['terminating connection due to administrator command', '57P01'],
    ])('takes what the database cannot do at the moment for no fault of the entry: %s', async (message, code) => {
      const { store, source } = setUp();
      const task = source('a');
      task.record();
      for (let index = 0; index < 5; index++)
        (await store.batch(index)).answer(Object.assign(new Error(message), { code }));
      (await store.batch(5)).answer(['written']);
      expect(await task.outcome(0)).toBe('written');
    });

    it('fails an entry alone that is an internal error of the database every time', async () => {
      const { store, source } = setUp();
      const task = source('a');
      task.record();
      const internal = Object.assign(new Error('cache lookup failed'), { code: 'XX000' });
      for (let index = 0; index < 5; index++) (await store.batch(index)).answer(internal);
      expect(await task.outcome(0)).toMatchObject({ failed: { name: 'EventNotWritable', cause: internal } });
    });

    it('takes nothing for the fault of an entry that only could not be looked up', async () => {
      const { store, source } = setUp();
      const task = source('a');
      task.record();
      store.unreadable = 5;
      (await store.batch(0)).answer(broken);
      (await store.batch(1)).answer(['written']);
      expect(await task.outcome(0)).toBe('written');
      expect(store.unreadable).toBe(0);
    });
  });

  it('makes the replica not ready while it stands still and something waits', async () => {
    const { store, readiness, source } = setUp({ JOURNAL_STALL_LIMIT: '1s' });
    expect(await readiness.runChecks()).toMatchObject({ journal: true });
    const task = source('a');
    task.record(3);
    const batch = await store.batch(0);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect((await readiness.runChecks())['journal']).toMatch(/^Nothing was written for \d+ s although 3 bytes wait$/);
    batch.answer(['written']);
    await task.outcome(0);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await readiness.runChecks()).toMatchObject({ journal: true });
  });
});
