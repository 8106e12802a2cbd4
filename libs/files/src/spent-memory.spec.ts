import type { ServerResponse } from 'node:http';
import { Readable, Writable } from 'node:stream';
import { freeChunk, freeingChunks, freeSentChunks } from './spent-memory.js';

const SIZE = 64 * 1024;
const whole = (): Buffer<ArrayBuffer> => Buffer.from(new ArrayBuffer(SIZE));

describe('freeChunk', () => {
  it('frees a chunk that has its memory for itself', () => {
    const chunk = whole();
    freeChunk(chunk);
    freeChunk(chunk);
    expect([chunk.byteLength, chunk.buffer.detached]).toEqual([0, true]);
  });

  it.each([
    ['a part of its memory', whole().subarray(0, SIZE - 1)],
    ['the end of its memory', whole().subarray(1)],
    ['a small chunk, which may be of a pool', Buffer.from('small')],
    ['shared memory', new Uint8Array(new SharedArrayBuffer(SIZE))],
  ])('leaves %s', (_what, chunk) => {
    const { byteLength } = chunk;
    freeChunk(chunk);
    expect(chunk.byteLength).toBe(byteLength);
  });
});

describe('freeingChunks', () => {
  it('frees a chunk when its reader asks for the next one, and not before', async () => {
    const [first, second] = [whole(), whole()];
    const reading = freeingChunks(Readable.from([first, second]));
    await reading.next();
    expect(first.byteLength).toBe(SIZE);
    await reading.next();
    expect([first.byteLength, second.byteLength]).toEqual([0, SIZE]);
  });
});

describe('freeSentChunks', () => {
  it('frees what is piped once all of it has left, and nothing that waits', async () => {
    const chunks = [whole(), whole()];
    const content = Readable.from(chunks);
    const waiting: (() => void)[] = [];
    const response = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => void waiting.push(done) });
    freeSentChunks(content, response as unknown as ServerResponse);
    content.pipe(response);
    for (const left of [0, 1]) {
      await new Promise((resolve) => setImmediate(resolve));
      expect(chunks.map(({ byteLength }) => byteLength > 0)).toEqual([left === 0, true]);
      waiting.shift()!();
    }
  });
});
