import { jest } from '@jest/globals';
import { TooManyAnswers } from '#libs/service';
import { type CallAttempt, CallDeadlines } from './call-deadlines.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('The limits of a call that waits for room for its answer', () => {
  /** Waits in an attempt for an event that never comes. @returns the error with which the wait ends */
  const failureOf = (attempt: CallAttempt): Promise<unknown> =>
    attempt.awaitArrival(new Promise<never>(() => undefined)).catch((error: unknown) => error);

  it.each([
    ['the first event', { firstEvent: 30_000 }, 'timeout: no answer within 30 s'],
    ['the whole call', { total: 30_000 }, 'timeout: not finished within 30 s'],
  ])('stop for %s, and go on with what was left', async (_what, timeouts, message) => {
    using limits = new CallDeadlines({ timeouts });
    const attempt = limits.beginAttempt();
    const failed = failureOf(attempt);
    jest.advanceTimersByTime(20_000);
    limits.onPaused();
    jest.advanceTimersByTime(60_000);
    limits.onResumed();
    jest.advanceTimersByTime(9_999);
    expect(attempt.signal.aborted).toBe(false);
    jest.advanceTimersByTime(1);
    expect(await failed).toMatchObject({ kind: 'timeout', message });
  });

  it('stop for the silence between two events, also where its reader comes back only then', async () => {
    using limits = new CallDeadlines({ timeouts: { idle: 30_000 } });
    const attempt = limits.beginAttempt();
    await attempt.awaitArrival(Promise.resolve('first'));
    limits.onPaused();
    const failed = failureOf(attempt);
    jest.advanceTimersByTime(60_000);
    limits.onResumed();
    jest.advanceTimersByTime(29_999);
    expect(attempt.signal.aborted).toBe(false);
    jest.advanceTimersByTime(1);
    expect(await failed).toMatchObject({ message: 'timeout: silent for 30 s' });
  });

  it('do not begin again after the call is over', () => {
    const limits = new CallDeadlines({ timeouts: { total: 30_000 } });
    limits.onPaused();
    limits[Symbol.dispose]();
    limits.onResumed();
    jest.advanceTimersByTime(60_000);
    expect(limits.over).toBe(false);
  });

  it('tell the caller, and end the call where the answer has lost its room', async () => {
    const reported: boolean[] = [];
    using limits = new CallDeadlines({ onPause: (isPaused) => reported.push(isPaused) });
    const attempt = limits.beginAttempt();
    const failed = failureOf(attempt);
    limits.onPaused();
    limits.onResumed();
    limits.onEvicted(new TooManyAnswers('too slow'));
    expect(await failed).toMatchObject({ kind: 'overloaded', message: 'too slow' });
    expect([reported, limits.over, attempt.signal.aborted]).toEqual([[true, false], true, true]);
  });
});
