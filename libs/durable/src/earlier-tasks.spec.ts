import { EarlierTasks } from './durable-execution.js';

const NEVER = new AbortController().signal;

it('a call that waits for the read of another one reads by itself once that one is cut', async () => {
  const reads = [new Promise<never>(() => undefined), Promise.resolve([{ parentReference: 'a', taskId: 't' }])];
  const recordedChildren = () => reads.shift() ?? Promise.reject(new Error('It reads too often'));
  const earlier = new EarlierTasks({ tasks: { recordedChildren } as never }, 'run');
  const canceling = new AbortController();
  const [cut, waiting] = [earlier.findTask('a', canceling.signal), earlier.findTask('a', NEVER)];
  canceling.abort(new Error('cut'));
  await expect(cut).rejects.toThrow('cut');
  expect(await waiting).toBe('t');
  expect(await earlier.findTask('a', NEVER)).toBe('t');
});
