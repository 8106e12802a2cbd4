import { loadConfig, Readiness } from '#libs/service';
import type { JournalEntry, TaskStore } from '../store/task-store.js';
import { databaseError, type Fault, FaultyStore } from '../testing/faulty-store.js';
import { JournaledTask } from '../testing/held-store.js';
import { TaskJournal } from './task-journal.js';

/**
 * SQLSTATE codes of errors with several possible causes: the batch, an entry, a trigger or an operator. Codes for
 * rejected content, and codes for the state of the server, are not included.
 */
const UNKNOWN = ['0A000', '40P01', '42501', '42P01', '53200', '53400', '54000', '55P03', '57014', '58030', 'XX001'];
const OF_SERVER = ['25006', '53100', '53300', '57P01', '57P03'];

function setUp(): { store: FaultyStore; journal: TaskJournal; source(taskId: string, parent?: string): JournaledTask } {
  const store = new FaultyStore();
  const ignore = (): void => undefined;
  const metrics = { batchWritten: ignore, countReached: ignore, writeRefused: ignore, watchJournal: ignore };
  const journal = new TaskJournal(store as unknown as TaskStore, metrics as never, loadConfig({}), new Readiness());
  return { store, journal, source: (taskId, parent) => new JournaledTask(taskId, journal, parent) };
}

function failing(code: string, isBad: (entry: JournalEntry) => boolean): Fault {
  return (batch) => (batch.some(isBad) ? databaseError(code) : undefined);
}

const ofTask = (taskId: string) => (entry: JournalEntry) => entry.taskId === taskId;

describe('a journal whose database refuses a write with a code that says nothing of its content', () => {
  it('writes all other entries of a batch in which one fails, and that one when it can be', async () => {
    const seen = UNKNOWN.map(async (code) => {
      const { store, journal, source } = setUp();
      const [bad, ...others] = Array.from({ length: 20 }, (_, index) => source(`task ${index}`));
      store.fault = failing(code, ofTask('task 0'));
      for (const task of [bad!, ...others]) task.record();
      const written = await Promise.all(others.map((task) => task.outcome(0)));
      const [early, standsStillMs] = [[...bad!.outcomes], journal.standsStillMs];
      store.fault = () => undefined;
      return { code, written, early, standsStillMs, late: await bad!.outcome(0) };
    });
    const written = Array<string>(19).fill('written');
    expect(await Promise.all(seen)).toEqual(
      UNKNOWN.map((code) => ({ code, written, early: [], standsStillMs: 0, late: 'written' })),
    );
  });

  it('fails no Task while every write fails, and writes all of them after that', async () => {
    const seen = UNKNOWN.map(async (code) => {
      const { store, source } = setUp();
      const tasks = Array.from({ length: 40 }, (_, index) => source(`task ${index}`));
      store.fault = failing(code, () => true);
      for (const task of tasks) task.record();
      await store.reached(60);
      const early = tasks.flatMap((task) => task.outcomes);
      store.fault = () => undefined;
      return { code, early, late: await Promise.all(tasks.map((task) => task.outcome(0))) };
    });
    const late = Array<string>(40).fill('written');
    expect(await Promise.all(seen)).toEqual(UNKNOWN.map((code) => ({ code, early: [], late })));
  });
});

it('a code that speaks of the server: the journal waits with the whole batch and sets nothing aside', async () => {
  const seen = OF_SERVER.map(async (code) => {
    const { store, journal, source } = setUp();
    const tasks = ['a', 'b'].map((taskId) => source(taskId));
    store.fault = failing(code, ofTask('a'));
    for (const task of tasks) task.record();
    await store.reached(4);
    const [statements, standsStill] = [new Set(store.statements.map(String)), journal.standsStillMs > 0];
    store.fault = () => undefined;
    return { code, statements, standsStill, late: await Promise.all(tasks.map((task) => task.outcome(0))) };
  });
  const late = ['written', 'written'];
  expect(await Promise.all(seen)).toEqual(
    OF_SERVER.map((code) => ({ code, statements: new Set(['a,b']), standsStill: true, late })),
  );
});

it('finds one bad entry among a thousand with a few statements', async () => {
  const { store, source } = setUp();
  const tasks = Array.from({ length: 1000 }, (_, index) => source(`task ${index}`));
  store.fault = failing('22P02', ofTask('task 700'));
  for (const task of tasks) task.record();
  await Promise.all(tasks.map((task) => task.outcome(0)));
  expect(tasks.filter(({ outcomes }) => outcomes[0] !== 'written').map(({ taskId }) => taskId)).toEqual(['task 700']);
  expect(store.statements.length).toBeLessThan(25);
});

it('writes a batch in parts that is more than the server takes at once', async () => {
  const { store, source } = setUp();
  const tasks = Array.from({ length: 500 }, (_, index) => source(`task ${index}`));
  store.fault = (batch) => (batch.length > 60 ? databaseError('53200') : undefined);
  for (const task of tasks) task.record();
  expect(await Promise.all(tasks.map((task) => task.outcome(0)))).toEqual(tasks.map(() => 'written'));
  expect(store.statements.length).toBeLessThan(40);
});

it('goes on with other Tasks while a thousand entries fail on their own', async () => {
  const { store, source } = setUp();
  const bad = Array.from({ length: 1000 }, (_, index) => source(`bad ${index}`));
  const good = source('good');
  store.fault = failing('53400', ({ taskId }) => taskId.startsWith('bad'));
  for (const task of [...bad, good]) task.record();
  expect(await good.outcome(0)).toBe('written');
  const next = source('next');
  next.record();
  expect(await next.outcome(0)).toBe('written');
  for (const task of bad) expect(task.outcomes).toEqual([]);
});

it('no other Task waits for an entry that is set aside while a statement tries it again', async () => {
  const { store, source } = setUp();
  const [bad, other, next] = [source('bad'), source('other'), source('next')];
  store.fault = failing('53400', ofTask('bad'));
  for (const task of [bad, other]) task.record();
  expect(await other.outcome(0)).toBe('written');
  const [tried, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  store.hold = (batch) => {
    if (!batch.some(ofTask('bad'))) return undefined;
    tried.resolve();
    return released.promise;
  };
  await tried.promise;
  next.record();
  expect(await next.outcome(0)).toBe('written');
  expect(bad.outcomes).toEqual([]);
  store.fault = () => undefined;
  released.resolve();
  expect(await bad.outcome(0)).toBe('written');
});

describe('behind an entry that is set aside', () => {
  it('later events of its Task and the Tasks that it calls for wait, in order, and are not fenced', async () => {
    const { store, source } = setUp();
    const [bad, other] = [source('bad'), source('other')];
    store.fault = failing('42501', ofTask('bad'));
    for (const task of [bad, other]) task.record();
    await other.outcome(0);
    const child = source('child', 'bad');
    for (const task of [bad, child, other]) task.record();
    await other.outcome(1);
    child.record();
    const last = source('last');
    last.record();
    expect(await last.outcome(0)).toBe('written');
    expect([bad.outcomes, child.outcomes]).toEqual([[], []]);
    store.fault = () => undefined;
    expect(await Promise.all([bad.outcome(1), child.outcome(1)])).toEqual(['written', 'written']);
    expect([bad.outcomes, child.outcomes]).toEqual([
      ['written', 'written'],
      ['written', 'written'],
    ]);
    bad.record();
    expect(await bad.outcome(2)).toBe('written');
  });

  it('nothing is settled twice where an entry of its batch was committed although the answer was lost', async () => {
    const { store, source } = setUp();
    const [bad, other] = [source('bad'), source('other')];
    let isFirst = true;
    store.fault = (batch) => {
      if (batch.every(({ taskId }) => taskId !== 'bad')) return undefined;
      const error = isFirst ? new Error('Connection terminated unexpectedly') : databaseError('53200');
      isFirst = false;
      return error;
    };
    for (const task of [bad, other]) task.record();
    await other.outcome(0);
    await store.reached(store.statements.length + 2);
    store.fault = () => undefined;
    expect(await bad.outcome(0)).toBe('written');
    expect([bad.outcomes, other.outcomes]).toEqual([['written'], ['written']]);
  });
});

it('a batch is divided so that a new Task and the new Tasks that it calls for stay in one statement', async () => {
  const { store, source } = setUp();
  const tasks = ['a', 'parent', 'b', 'child', 'c'].map((taskId) =>
    source(taskId, taskId === 'child' ? 'parent' : 'root'),
  );
  store.fault = (batch) => (batch.length > 2 ? databaseError('53200') : undefined);
  for (const task of tasks) task.record();
  await Promise.all(tasks.map((task) => task.outcome(0)));
  const written = store.statements.filter((taskIds) => taskIds.length <= 2);
  expect(written).toContainEqual(['parent', 'child']);
});
