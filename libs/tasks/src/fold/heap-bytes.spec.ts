import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { heapBytes } from './fold-memory.js';

const MANY = 49_000;

/**
 * Functions that return the entry at an index of a large list, by the shape of the entries. The list has about as many
 * members as a request body may have.
 */
const SHAPES: Record<string, (index: number) => unknown> = {
  'empty objects': () => ({}),
  'empty lists': () => [],
  'lists in lists': () => [[1], [2]],
  'fractions beside nothing': (index) => (index % 2 ? index + 0.5 : null),
  'objects with a name each': (index) => ({ [`name-${index}`]: 1 }),
  'objects with a number for a name': (index) => ({ [index * 100_000 + 5]: 1 }),
  'objects with one number for a name': () => ({ 5_000_000: 1 }),
  'objects of one shape': (index) => ({ a: index, b: 'x', c: true }),
  'objects with names in another order each': (index) =>
    Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`k${(at * (1 + (index % 97)) + index) % 101}`, 1])),
};

/**
 * Source of a worker that measures the heap bytes of a value parsed from JSON. The heap of a worker is small, so that
 * garbage is collected soon.
 */
const MEASURE = `
  const { parentPort } = require('node:worker_threads');
  const { getHeapStatistics, setFlagsFromString } = require('node:v8');
  setFlagsFromString('--expose-gc');
  const collect = require('node:vm').runInNewContext('gc');
  const usedBytes = () => (collect(), getHeapStatistics().used_heap_size);
  parentPort.on('message', (text) => {
    const before = usedBytes();
    const value = JSON.parse(text);
    const bytes = usedBytes() - before;
    parentPort.postMessage({ bytes, isKept: value !== undefined });
  });
`;

describe('The bytes of the heap that a JSON value is taken for', () => {
  const worker = new Worker(MEASURE, { eval: true });

  afterAll(() => worker.terminate());

  async function measuredBytes(text: string): Promise<number> {
    const measured = once(worker, 'message');
    worker.postMessage(text);
    const [{ bytes, isKept }] = (await measured) as [{ bytes: number; isKept: boolean }];
    expect(isKept).toBe(true);
    return bytes;
  }

  it.each(Object.entries(SHAPES))('are no fewer than V8 takes for a list of %s', async (_which, shape) => {
    const members = Object.keys(shape(0) ?? {}).length;
    const text = JSON.stringify(Array.from({ length: Math.floor(MANY / (members + 1)) }, (_, index) => shape(index)));
    expect(heapBytes(JSON.parse(text)) / (await measuredBytes(text))).toBeGreaterThan(0.9);
  });

  it('are about two for a character of long texts, and not many more for a form', () => {
    expect(heapBytes('x'.repeat(10_000))).toBe(20_024);
    const field = (index: number) => ({ type: 'string', title: `The field ${index}`, description: 'Say what it is' });
    const properties = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`field-${index}`, field(index)]));
    const form = { type: 'object', properties };
    expect(heapBytes(form)).toBeLessThan(JSON.stringify(form).length * 5);
  });

  it('are counted however deep the value is', () => {
    let deep: unknown = 'x';
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    expect(heapBytes(deep)).toBe(100_000 * 72 + 26);
  });
});
