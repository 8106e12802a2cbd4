import { jest } from '@jest/globals';
import type { Authentication } from './authentication.js';
import type { Caller, Proof } from './caller.js';
import { OpenCalls } from './open-calls.js';

let held: Set<string>;
let asked: string[];
let calls: OpenCalls;

beforeEach(() => {
  jest.useFakeTimers();
  held = new Set(['a', 'b']);
  asked = [];
  const holds = async ({ key }: Proof): Promise<boolean> => {
    asked.push(key!);
    if (key === 'unanswered') return new Promise(() => undefined);
    if (key === 'unknowable') throw new Error('The database is away');
    return held.has(key!);
  };
  calls = new OpenCalls({ isProofValid: holds } as Authentication);
});

afterEach(() => {
  calls.onModuleDestroy();
  jest.useRealTimers();
});

function caller(key: string): Caller {
  return { tenant: '', owner: key, permissions: new Set(), proof: { key } };
}

/**
 * Watches a stream of the caller with this key. When the watch ends the stream, adds the key to `ended`; while `begun`
 * returns false, the stream cannot be ended yet.
 */
function stream(key: string, ended: string[], begun = () => true): () => void {
  return calls.watchStream(caller(key), () => begun() && ended.push(key) > 0);
}

describe('OpenCalls', () => {
  it('ends the streams of a key that is not valid any more, each once', async () => {
    const ended: string[] = [];
    for (const key of ['a', 'a', 'b', 'unknowable']) stream(key, ended);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(ended).toEqual([]);
    held.delete('a');
    await jest.advanceTimersByTimeAsync(3_000);
    expect(ended).toEqual(['a', 'a']);
  });

  it('asks for each once at a time, and waits with none for the answer to another', async () => {
    const ended: string[] = [];
    stream('unanswered', ended);
    stream('a', ended);
    await jest.advanceTimersByTimeAsync(2_000);
    held.clear();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(asked).toEqual(['unanswered', 'a', 'a', 'a']);
    expect(ended).toEqual(['a']);
  });

  it('leaves alone what has ended by itself', async () => {
    const ended: string[] = [];
    stream('a', ended)();
    held.clear();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(ended).toEqual([]);
  });

  it('waits for a stream that has not begun', async () => {
    const ended: string[] = [];
    let begun = false;
    stream('a', ended, () => begun);
    held.clear();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(ended).toEqual([]);
    begun = true;
    await jest.advanceTimersByTimeAsync(1_000);
    expect(ended).toEqual(['a']);
  });

  it('watches nobody whose access cannot be withdrawn', async () => {
    const end = jest.fn(() => true);
    calls.watchStream({ ...caller('x'), proof: undefined }, end);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(end).not.toHaveBeenCalled();
  });
});
