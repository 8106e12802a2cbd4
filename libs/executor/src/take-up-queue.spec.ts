import type { TaskHeader, TaskLog } from '#libs/tasks';
import { type PendingClaim, TakeUpQueue } from './task-adoption.js';

const MEGABYTE = 1024 * 1024;

interface HeldTakeUp {
  taskId: string;
  end(): void;
}

/**
 * Creates a queue of Tasks with logs of the given sizes in bytes. Logs below 64 KiB are read together with their Tasks.
 * A test decides when the adoption of a Task ends.
 */
function queueOver(sizes: Record<string, number>, looks: (taskId: string) => Promise<void> = async () => undefined) {
  const asked: string[] = [];
  const failed: string[] = [];
  const begun: HeldTakeUp[] = [];
  const log = async (taskId: string): Promise<TaskLog | undefined> => {
    asked.push(taskId);
    await looks(taskId);
    const bytes = sizes[taskId];
    if (bytes === undefined) return undefined;
    const header = { taskId, size: { log: bytes, artifacts: 0 } } as TaskHeader;
    return bytes < 65_536 ? { header, events: [] } : { header };
  };
  const takeUp = ({ taskId }: PendingClaim): Promise<void> =>
    new Promise((resolve) => begun.push({ taskId, end: resolve }));
  const queue = new TakeUpQueue(
    { readLog: log },
    takeUp,
    ({ taskId }) => failed.push(taskId),
    () => true,
  );
  const add = (...taskIds: string[]): void => queue.add(taskIds.map((taskId) => ({ taskId, token: 'a', failures: 0 })));
  const underWay = async (): Promise<string[]> => {
    await new Promise((resolve) => setImmediate(resolve));
    return begun.map(({ taskId }) => taskId);
  };
  const end = async (taskId: string): Promise<string[]> => {
    const at = begun.findIndex((it) => it.taskId === taskId);
    begun.splice(at, 1)[0]!.end();
    return underWay();
  };
  return { queue, add, asked, failed, underWay, end };
}

it('TakeUpQueue takes up every short log before the first long one, and then the shortest of those first', async () => {
  const { queue, add, underWay, end } = queueOver({ huge: 60 * MEGABYTE, long: 9 * MEGABYTE, a: 1, b: 2 });
  add('huge', 'a', 'long', 'b');
  expect(await underWay()).toEqual(['a', 'b']);
  expect(await end('a')).toEqual(['b']);
  expect(await end('b')).toEqual(['long']);
  expect(await end('long')).toEqual(['huge']);
  await end('huge');
  await queue.whenIdle();
});

it('TakeUpQueue reads long logs beside each other up to their number and bytes', async () => {
  const small = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`s${index}`, 100_000]));
  const many = queueOver(small);
  many.add(...Object.keys(small));
  expect(await many.underWay()).toHaveLength(8);
  const large = queueOver({ a: 3 * MEGABYTE, b: 4 * MEGABYTE, c: 5 * MEGABYTE });
  large.add('c', 'b', 'a');
  expect(await large.underWay()).toEqual(['a', 'b']);
  expect(await large.end('a')).toEqual(['b']);
  expect(await large.end('b')).toEqual(['c']);
});

it('TakeUpQueue asks for many short logs in one turn, and never for more than 128 at once', async () => {
  const taskIds = Array.from({ length: 500 }, (_, index) => `t${index}`);
  const { add, asked, underWay, end } = queueOver(Object.fromEntries(taskIds.map((taskId) => [taskId, 1])));
  add(...taskIds);
  expect(asked).toHaveLength(128);
  expect(await underWay()).toHaveLength(128);
  await end('t0');
  expect(asked).toHaveLength(129);
});

it('TakeUpQueue goes on behind a Task that cannot be looked at, and takes up one that is gone', async () => {
  const { queue, add, failed, underWay, end } = queueOver({ b: 1 }, async (taskId) => {
    if (taskId === 'a') throw new Error('the database is away');
  });
  add('a', 'b', 'gone');
  expect(await underWay()).toEqual(['b', 'gone']);
  expect(failed).toEqual(['a']);
  await end('b');
  await end('gone');
  await queue.whenIdle();
});

it('TakeUpQueue starts nothing after its stop, and is idle when what was under way has ended', async () => {
  const { queue, add, underWay, end } = queueOver({ a: 1, long: MEGABYTE, b: 1 });
  add('a', 'long');
  expect(await underWay()).toEqual(['a']);
  queue.stop();
  add('b');
  expect(await end('a')).toEqual([]);
  await queue.whenIdle();
});
