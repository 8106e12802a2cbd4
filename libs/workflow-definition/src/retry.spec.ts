import fc from 'fast-check';
import { isRetried, isTooLong, retryPause } from './retry.js';

const failed = (attempt: number, retryAfter?: number) => ({
  runId: 'run-1',
  instance: 'a',
  attempt,
  ...(retryAfter !== undefined && { retryAfter }),
});

describe('the policy of retries', () => {
  it.each([
    ['connect', true],
    ['timeout', true],
    ['server-error', true],
    ['rate-limited', true],
    ['overloaded', true],
    ['client-error', false],
    ['rpc-error', false],
    ['failed', false],
    ['expression', false],
    ['internal', false],
  ] as const)('tries again after %s unless it says otherwise: %s', (kind, expected) => {
    expect(isRetried({ attempts: 2 }, 1, { kind, message: '' })).toBe(expected);
  });

  it('tries again after what it names, as often as it says', () => {
    const retry = { attempts: 3, on: ['failed'] };
    const asked = [1, 2, 3, 4].map((attempt) => isRetried(retry, attempt, { kind: 'failed', message: '' }));
    expect(asked).toEqual([true, true, false, false]);
    expect(isRetried(retry, 1, { kind: 'timeout', message: '' })).toBe(false);
    expect(isRetried(retry, 1, { kind: 'cut', message: '' })).toBe(true);
  });

  it('waits longer each time, up to the longest', () => {
    const pauses = [1, 2, 3, 7, 8, 5_000].map((attempt) => retryPause({ attempts: 9, jitter: 0 }, failed(attempt)));
    expect(pauses).toEqual([1_000, 2_000, 4_000, 60_000, 60_000, 60_000]);
    const slow = { attempts: 9, jitter: 0, delay: '500ms', factor: 3, maxDelay: '2s' };
    expect([1, 2, 3].map((attempt) => retryPause(slow, failed(attempt)))).toEqual([500, 1_500, 2_000]);
    expect(retryPause({ attempts: 9, delay: '0s' }, failed(5_000))).toBe(0);
  });

  it('leaves a part of it to chance, the same for the same attempt', () => {
    const retry = { attempts: 9, delay: '10s', factor: 1 };
    const pauses = Array.from({ length: 20 }, (_, index) => retryPause(retry, failed(index + 1)));
    expect(new Set(pauses).size).toBeGreaterThan(15);
    expect(Array.from({ length: 20 }, (_, index) => retryPause(retry, failed(index + 1)))).toEqual(pauses);
    fc.assert(
      fc.property(fc.string(), fc.nat(100), fc.double({ min: 0, max: 1, noNaN: true }), (runId, attempt, jitter) => {
        const pause = retryPause({ ...retry, jitter }, { runId, instance: 'a', attempt });
        expect(pause).toBeGreaterThanOrEqual(Math.floor(10_000 * (1 - jitter)));
        expect(pause).toBeLessThanOrEqual(10_000);
      }),
    );
  });

  it('waits as long as the agent asks, also longer than the longest, but no longer than a year', () => {
    const retry = { attempts: 9, maxDelay: '2s', jitter: 0 };
    expect(retryPause(retry, failed(1, 500))).toBe(1_000);
    expect(retryPause(retry, failed(1, 90_000))).toBe(90_000);
    expect(retryPause(retry, failed(1, 1e15))).toBe(365 * 86_400_000);
  });

  it('waits as long as an agent asks, up to the longer of an hour and maxDelay', () => {
    const [seconds, halfHour, twoHours, year] = [2_000, 1_800_000, 7_200_000, 31_536_000_000];
    const short = { attempts: 2, maxDelay: '1s' };
    expect([seconds, halfHour, twoHours, year].map((pause) => isTooLong(short, pause))).toEqual([
      false,
      false,
      true,
      true,
    ]);
    expect(isTooLong({ attempts: 2, maxDelay: '3h' }, twoHours)).toBe(false);
  });
});
