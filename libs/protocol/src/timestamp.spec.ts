import { jest } from '@jest/globals';
import { dateOfTimestamp, timestampNow } from './task.js';

describe('timestampNow', () => {
  afterEach(() => void jest.restoreAllMocks());

  it('is the time in UTC to the millisecond, also where a second begins and where the clock is set back', () => {
    const clock = jest.spyOn(Date, 'now');
    for (const time of ['59.998', '59.999', '00.000', '00.007', '00.070', '00.700', '59.999', '59.999']) {
      const iso = `2026-02-28T23:59:${time}Z`;
      clock.mockReturnValue(Date.parse(iso));
      expect(timestampNow()).toBe(iso);
    }
  });
});

describe('timeOf', () => {
  it('is when a timestamp was, whether it was the last one or not', () => {
    const now = timestampNow();
    expect([dateOfTimestamp(now), dateOfTimestamp(now)]).toEqual([new Date(now), new Date(now)]);
    expect(dateOfTimestamp('2026-02-28T23:59:59.999Z').getTime()).toBe(Date.UTC(2026, 1, 28, 23, 59, 59, 999));
    expect(dateOfTimestamp('no time').getTime()).toBeNaN();
  });
});
