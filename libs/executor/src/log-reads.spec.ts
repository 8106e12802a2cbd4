import { LogReads } from './task-adoption.js';

const MEBIBYTE = 1024 * 1024;

/** Requests reads of the given sizes, in mebibytes. `begun` gets the indexes of the reads that have started. */
function readsOf(...sizes: number[]) {
  const reads = new LogReads();
  const begun: number[] = [];
  const ends = sizes.map(() => Promise.withResolvers<void>());
  const all = sizes.map((size, index) =>
    reads.runRead(size * MEBIBYTE, async () => {
      begun.push(index);
      await ends[index]!.promise;
    }),
  );
  const end = async (index: number): Promise<void> => {
    ends[index]!.resolve();
    await new Promise(setImmediate);
  };
  const fail = async (index: number): Promise<void> => {
    ends[index]!.reject(new Error('Connection terminated unexpectedly'));
    await expect(all[index]).rejects.toThrow('Connection terminated');
  };
  return { begun, end, fail };
}

it('reads logs at once that have eight mebibytes together, and a longer one alone', async () => {
  const { begun, end } = readsOf(3, 5, 1, 64, 1);
  expect(begun).toEqual([0, 1]);
  await end(0);
  expect(begun).toEqual([0, 1, 2]);
  await end(1);
  expect(begun).toEqual([0, 1, 2]);
  await end(2);
  expect(begun).toEqual([0, 1, 2, 3]);
  await end(3);
  expect(begun).toEqual([0, 1, 2, 3, 4]);
});

it('gives the room of a read back that fails', async () => {
  const { begun, fail } = readsOf(8, 8);
  await fail(0);
  expect(begun).toEqual([0, 1]);
});
