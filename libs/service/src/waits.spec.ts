import { getEventListeners } from 'node:events';
import { Backoff, unlessAborted, whenAborted, withinTime } from './waits.js';

/** Expected pauses of all operations that are retried, in milliseconds. */
const PAUSES: [place: string, backoff: Backoff, pauses: number[]][] = [
  ['statements while the database is down', new Backoff(50, 1_000), [50, 100, 200, 400, 800, 1_000, 1_000]],
  ['the session that receives signals', new Backoff(50, 5_000), [50, 100, 200, 400, 800, 1_600, 3_200, 5_000]],
  ['batches of the journal', new Backoff(50, 2_000), [50, 100, 200, 400, 800, 1_600, 2_000]],
  ['entries set aside', new Backoff(500, 60_000), [500, 1e3, 2e3, 4e3, 8e3, 16e3, 32e3, 60e3]],
  ['cancels', new Backoff(20, 1_000), [20, 40, 80, 160, 320, 640, 1_000]],
  ['adoptions', new Backoff(1_000, 3_600_000), [1e3, 2e3, 4e3, 8e3, 16e3, 32e3, 64e3]],
  ['reads of files', new Backoff(250, 15_000), [250, 500, 1e3, 2e3, 4e3, 8e3, 15e3]],
  ['calls of a local agent', new Backoff(100), [100, 200, 400, 800, 1_600, 3_200, 6_400]],
  ['sessions of an MCP server', new Backoff(500, 30_000), [500, 1e3, 2e3, 4e3, 8e3, 16e3, 30e3]],
  ['streams of an MCP server', new Backoff(1_000, 10_000), [1e3, 2e3, 4e3, 8e3, 10e3]],
  ['streams of an agent', new Backoff(100, 3_000), [100, 200, 400, 800, 1_600, 3_000, 3_000]],
  ['refused connections', new Backoff(100, 1_000), [100, 200, 400, 800, 1_000]],
  ['exports of spans', new Backoff(1_000), [1e3, 2e3, 4e3]],
  ['a folder that is applied', new Backoff(500, 10_000), [500, 1e3, 2e3, 4e3, 8e3, 10e3]],
];

describe('Backoff', () => {
  it.each(PAUSES)('doubles the pauses of %s up to their limit', (_place, backoff, pauses) => {
    expect(pauses.map((_, retries) => backoff.pauseAfter(retries))).toEqual(pauses);
  });

  it('stays at its limit after any number of retries', () => {
    expect(new Backoff(50, 1_000).pauseAfter(5_000)).toBe(1_000);
  });

  it('subtracts a part that chance decides', () => {
    const backoff = new Backoff(500, Infinity, 0.5);
    expect([0, 0.5, 1].map((chance) => backoff.pauseAfter(1, chance))).toEqual([1_000, 750, 500]);
    const pauses = Array.from({ length: 20 }, () => backoff.pauseAfter(0));
    expect(new Set(pauses).size).toBeGreaterThan(1);
    expect(pauses.filter((pause) => pause > 500 || pause <= 250)).toEqual([]);
  });

  it('retries while an error is passing, and says how long it would pause', async () => {
    const seen: unknown[] = [];
    const failures = [new Error('first'), new Error('second')];
    const attempt = async (): Promise<string> => {
      const failure = failures.shift();
      if (failure) throw failure;
      return 'done';
    };
    const isPassing = (error: unknown, pauseMs: number): boolean => seen.push([(error as Error).message, pauseMs]) > 0;
    expect(await new Backoff(1).retryWhile(attempt, isPassing)).toBe('done');
    expect(seen).toEqual([
      ['first', 1],
      ['second', 2],
    ]);
  });

  it('throws the first error that is not passing', async () => {
    const failure = new Error('lasting');
    const retrying = new Backoff(1).retryWhile(
      () => Promise.reject(failure),
      () => false,
    );
    await expect(retrying).rejects.toBe(failure);
  });

  it('ends a pause with the reason of the signal', async () => {
    const stop = new AbortController();
    const isPassing = (): boolean => {
      setImmediate(() => stop.abort(new Error('stopped')));
      return true;
    };
    const retrying = new Backoff(60_000).retryWhile(() => Promise.reject(new Error('away')), isPassing, stop.signal);
    await expect(retrying).rejects.toThrow('stopped');
  });
});

const PENDING = new Promise<never>(() => undefined);
const REASON = new Error('gone');

describe('whenAborted', () => {
  it('resolves when the signal aborts, and at once if it has aborted before', async () => {
    const control = new AbortController();
    const waiting = whenAborted(control.signal);
    expect(await Promise.race([waiting, Promise.resolve('still waiting')])).toBe('still waiting');
    control.abort();
    await waiting;
    await whenAborted(control.signal);
  });
});

describe('unlessAborted', () => {
  it('settles as the work does, with a signal or without', async () => {
    const { signal } = new AbortController();
    const failure = new Error('broken');
    for (const it of [signal, undefined]) {
      expect(await unlessAborted(Promise.resolve('done'), it)).toBe('done');
      await expect(unlessAborted(Promise.reject(failure), it)).rejects.toBe(failure);
    }
  });

  it('rejects with the reason of the signal, whether it aborts during the wait or before', async () => {
    const control = new AbortController();
    const waiting = unlessAborted(PENDING, control.signal);
    control.abort(REASON);
    await expect(waiting).rejects.toBe(REASON);
    await expect(unlessAborted(Promise.resolve('done'), control.signal)).rejects.toBe(REASON);
  });

  it('ignores a failure of the work after the signal has aborted', async () => {
    const { promise, reject } = Promise.withResolvers<void>();
    await expect(unlessAborted(promise, AbortSignal.abort(REASON))).rejects.toBe(REASON);
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', note);
    reject(new Error('late'));
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });

  it('leaves no listener behind', async () => {
    const { signal } = new AbortController();
    await unlessAborted(Promise.resolve(), signal);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('withinTime', () => {
  it('settles as the work does', async () => {
    const failure = new Error('broken');
    expect(await withinTime(Promise.resolve('done'), 60_000)).toBe('done');
    await expect(withinTime(Promise.reject(failure), 60_000)).rejects.toBe(failure);
  });

  it('resolves with undefined after the time', async () => {
    expect(await withinTime(PENDING, 1)).toBeUndefined();
  });
});
