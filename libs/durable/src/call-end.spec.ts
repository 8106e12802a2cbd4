import { jest } from '@jest/globals';
import { CallEnd } from './call-outcome.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('The time of a call', () => {
  it.each([
    ['begins with it', 60_000, undefined, 60_000],
    ['counts from where another execution has begun it', 60_000, 40_000, 20_000],
    ['is two seconds at least, so that an answer is heard that is there', 60_000, 90_000, 2_000],
    ['is never longer than its limit', 1_000, 90_000, 1_000],
    ['is no longer where the clocks of two machines differ', 60_000, -30_000, 60_000],
  ])('%s', (_what, limit, ago, left) => {
    using end = new CallEnd(new AbortController().signal, () => undefined);
    end.startLimit(limit, ago === undefined ? undefined : Date.now() - ago);
    jest.advanceTimersByTime(left - 1);
    expect(end.timedOut).toBe(false);
    jest.advanceTimersByTime(1);
    expect([end.timedOut, end.signal.aborted]).toEqual([true, true]);
  });

  it('restarts where it begins once more', () => {
    using end = new CallEnd(new AbortController().signal, () => undefined);
    end.startLimit(60_000, Date.now() - 60_000);
    jest.advanceTimersByTime(1_999);
    end.startLimit(60_000);
    jest.advanceTimersByTime(59_999);
    expect(end.timedOut).toBe(false);
    jest.advanceTimersByTime(1);
    expect(end.timedOut).toBe(true);
  });

  it('stops while nothing of the answer is read', () => {
    using end = new CallEnd(new AbortController().signal, () => undefined);
    end.startLimit(30_000);
    jest.advanceTimersByTime(20_000);
    end.pauseLimit(true);
    jest.advanceTimersByTime(60_000);
    end.pauseLimit(false);
    jest.advanceTimersByTime(9_999);
    expect(end.timedOut).toBe(false);
    jest.advanceTimersByTime(1);
    expect(end.timedOut).toBe(true);
  });
});
