import { readThroughOutage } from './file-contents.js';
import { storageUnavailable, unknownFile } from './file-errors.js';

const away = storageUnavailable('away');

/** Creates a read that fails a number of times, and then succeeds. */
function failing(times: number, failure: Error): { read: () => Promise<string>; reads: () => number } {
  let reads = 0;
  const read = async (): Promise<string> => {
    reads += 1;
    if (reads <= times) throw failure;
    return 'content';
  };
  return { read, reads: () => reads };
}

describe('readThroughOutage', () => {
  it.each([
    ['the storage does not answer', away],
    ['the content breaks off', new TypeError('terminated')],
  ])('reads again where %s', async (_what, failure) => {
    const { read, reads } = failing(1, failure);
    expect(await readThroughOutage(read, new AbortController().signal)).toBe('content');
    expect(reads()).toBe(2);
  });

  it('does not read a file again that is gone', async () => {
    const { read, reads } = failing(1, unknownFile());
    await expect(readThroughOutage(read, new AbortController().signal)).rejects.toThrow('file not found');
    expect(reads()).toBe(1);
  });

  it('throws the last failure of an outage that lasts', async () => {
    const { read } = failing(Infinity, away);
    await expect(readThroughOutage(read, new AbortController().signal, 300)).rejects.toBe(away);
  });

  it('ends with its signal', async () => {
    const leaving = new AbortController();
    const reading = readThroughOutage(failing(Infinity, away).read, leaving.signal);
    await new Promise(setImmediate);
    leaving.abort(new Error('canceled'));
    await expect(reading).rejects.toThrow('canceled');
  });
});
