import {
  OutboundConnectError,
  OutboundInterruptedError,
  OutboundRefusedError,
  OutboundTimeoutError,
} from '#libs/http-client';
import {
  finalReason,
  isUnanswered,
  MAX_ATTEMPTS,
  outcomeOfAnswer,
  outcomeOfError,
  pauseAfter,
  RECEIVER_BACKOFF,
} from './retry-plan.js';

const NO_LUCK = (): number => 0;
const HOUR = 3_600_000;

describe('what came of an attempt', () => {
  it.each([200, 202, 204, 299])('%s is a delivery', (status) => {
    expect(outcomeOfAnswer(status, undefined)).toEqual({ delivered: true, status });
  });

  it.each([199, 301, 302, 307, 400, 404, 410, 500, 503])('%s is none', (status) => {
    expect(outcomeOfAnswer(status, undefined)).toEqual({ delivered: false, status });
  });

  it.each([
    [new OutboundConnectError('x'), 'connect'],
    [new OutboundTimeoutError('total'), 'timeout'],
    [new OutboundInterruptedError('x'), 'interrupted'],
    [new OutboundRefusedError('x', 'address'), 'refused'],
  ])('%p is told by its class', (error, kind) => {
    expect(outcomeOfError(error)).toEqual({ delivered: false, error: kind });
  });

  it('of a fault of ours is that fault', () => {
    expect(() => outcomeOfError(new TypeError('ours'))).toThrow('ours');
  });
});

describe('the pauses', () => {
  it('double from a second to half an hour', () => {
    const full = (attempts: number) => pauseAfter(attempts, outcomeOfAnswer(503, undefined), () => 1);
    expect([1, 2, 3, 4, 11, 12, 19].map(full)).toEqual([1e3, 2e3, 4e3, 8e3, 1_024e3, 1_800e3, 1_800e3]);
  });

  it('are a quarter shorter at most', () => {
    expect(pauseAfter(4, outcomeOfAnswer(503, undefined), NO_LUCK)).toBe(6_000);
  });

  it('add up to hours', () => {
    let sum = 0;
    for (let attempts = 1; attempts < MAX_ATTEMPTS; attempts += 1) {
      sum += pauseAfter(attempts, outcomeOfAnswer(503, undefined), NO_LUCK);
    }
    expect(sum).toBeGreaterThan(3 * HOUR);
    expect(sum).toBeLessThan(6 * HOUR);
  });

  it.each([
    ['120', 120_000],
    ['999999', 1_800_000],
    ['0', 750],
    ['Fri, 31 Dec 1999 23:59:59 GMT', 750],
  ])('honour Retry-After: %s', (header, pause) => {
    expect(pauseAfter(1, outcomeOfAnswer(503, header), NO_LUCK)).toBe(pause);
  });

  it('honour Retry-After as a time', () => {
    const time = new Date(Date.now() + 600_000).toUTCString();
    expect(pauseAfter(1, outcomeOfAnswer(429, time), NO_LUCK)).toBeGreaterThan(500_000);
  });
});

describe('the end', () => {
  it('comes at once with 410, and with an address that is refused', () => {
    expect(finalReason(outcomeOfAnswer(410, undefined), 1)).toMatch(/410/);
    expect(finalReason({ delivered: false, error: 'refused' }, 1)).toMatch(/address/);
  });

  it('comes with the last attempt, and says what that failed with', () => {
    expect(finalReason(outcomeOfAnswer(503, undefined), MAX_ATTEMPTS - 1)).toBeUndefined();
    expect(finalReason(outcomeOfAnswer(503, undefined), MAX_ATTEMPTS)).toBe(
      '20 attempts failed, the last one with 503',
    );
    const timeout = { delivered: false, error: 'timeout' };
    expect(finalReason(timeout, MAX_ATTEMPTS)).toBe('20 attempts failed, the last one with a timeout error');
  });
});

describe('a receiver that gives no answer', () => {
  it('is left alone, longer each time', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 8].map((failures) => RECEIVER_BACKOFF.pauseAfter(failures - 1))).toEqual([
      1e3, 2e3, 4e3, 8e3, 16e3, 32e3, 60e3, 60e3,
    ]);
  });

  it('is not one that answers with an error, or whose connection broke in the middle of an answer', () => {
    expect(['connect', 'timeout'].map((error) => isUnanswered({ delivered: false, error }))).toEqual([true, true]);
    expect(isUnanswered({ delivered: false, status: 503 })).toBe(false);
    expect(isUnanswered({ delivered: false, error: 'interrupted' })).toBe(false);
  });
});
