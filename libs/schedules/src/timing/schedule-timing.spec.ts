import { findTimingProblems, FiringTimes, type ScheduleTiming } from './schedule-timing.js';

const NOW = new Date('2026-11-30T00:00:00Z');

function timesOf(timing: ScheduleTiming, after: string, count: number): string[] {
  return new FiringTimes(timing).listNext(new Date(after), count).map((time) => time.toISOString().slice(5, 16));
}

describe('FiringTimes', () => {
  it.each<[what: string, cron: string, timeZone: string, after: string, times: string[]]>([
    [
      'a skipped time fires after the gap',
      '30 2 * * *',
      'Europe/Berlin',
      '2027-03-27T00:00:00Z',
      ['03-27T01:30', '03-28T01:00', '03-29T00:30'],
    ],
    [
      'a doubled time fires at its first occurrence',
      '30 2 * * *',
      'Europe/Berlin',
      '2027-10-30T12:00:00Z',
      ['10-31T00:30', '11-01T01:30'],
    ],
    [
      'a list of skipped times fires once',
      '0,15,30,45 2 * * *',
      'Europe/Berlin',
      '2027-03-28T00:00:00Z',
      ['03-28T01:00', '03-29T00:00'],
    ],
    [
      'an interval has no times in a skipped hour',
      '*/15 2 * * *',
      'Europe/Berlin',
      '2027-03-28T00:00:00Z',
      ['03-29T00:00'],
    ],
    [
      'an interval fires in both doubled hours',
      '*/30 2 * * *',
      'Europe/Berlin',
      '2027-10-30T23:00:00Z',
      ['10-31T00:00', '10-31T00:30', '10-31T01:00', '10-31T01:30', '11-01T01:00'],
    ],
    [
      'every hour stays every hour',
      '0 * * * *',
      'Europe/Berlin',
      '2027-10-30T23:00:00Z',
      ['10-31T00:00', '10-31T01:00', '10-31T02:00'],
    ],
    [
      'a shift of half an hour',
      '0 * * * *',
      'Australia/Lord_Howe',
      '2027-04-03T13:30:00Z',
      ['04-03T14:00', '04-03T15:30', '04-03T16:30'],
    ],
    ['a skipped midnight', '30 0 * * *', 'America/Santiago', '2027-09-04T12:00:00Z', ['09-05T04:00', '09-06T03:30']],
    [
      'a doubled end of the day',
      '30 23 * * *',
      'America/Santiago',
      '2027-04-03T12:00:00Z',
      ['04-04T02:30', '04-05T03:30'],
    ],
    [
      'a skipped midnight of the past',
      '30 0 * * *',
      'America/Sao_Paulo',
      '2018-11-03T12:00:00Z',
      ['11-04T03:00', '11-05T02:30'],
    ],
    [
      'a doubled hour in the west',
      '30 1 * * *',
      'America/New_York',
      '2027-11-06T12:00:00Z',
      ['11-07T05:30', '11-08T06:30'],
    ],
  ])('follow the clocks of the zone: %s', (_, cron, timeZone, after, times) => {
    expect(timesOf({ cron, timeZone }, after, times.length)).toEqual(times);
  });

  it('take six fields with seconds, names, and either of two days', () => {
    expect(new FiringTimes({ cron: '*/20 0 0 * * *' }).listNext(NOW, 2).map((it) => it.toISOString())).toEqual([
      '2026-11-30T00:00:20.000Z',
      '2026-11-30T00:00:40.000Z',
    ]);
    expect(timesOf({ cron: '0 9 1 * mon' }, '2027-01-01T00:00:00Z', 2)).toEqual(['01-01T09:00', '01-04T09:00']);
    expect(timesOf({ cron: '@daily' }, '2027-01-01T00:00:00Z', 1)).toEqual(['01-02T00:00']);
  });

  it('count an interval from its start, and keep within start and end', () => {
    const timing = { every: '90s', startAt: '2027-01-01T00:00:10Z', endAt: '2027-01-01T00:03:10Z' };
    const found = new FiringTimes(timing).listNext(NOW, 10).map((it) => it.toISOString().slice(14, 19));
    expect(found).toEqual(['00:10', '01:40', '03:10']);
    expect(new FiringTimes({ every: '1h' }).nextAfter(new Date('2027-01-01T05:59:59.999Z'))?.toISOString()).toBe(
      '2027-01-01T06:00:00.000Z',
    );
    expect(new FiringTimes({ every: '1h' }).nextAfter(new Date('2027-01-01T06:00:00Z'))?.toISOString()).toBe(
      '2027-01-01T07:00:00.000Z',
    );
  });

  it.each(['1.1h', '0.7d', '2.01s', '1.0005s', '1.001s'])('advance by an interval of %s', (every) => {
    const times = new FiringTimes({ every }).listNext(NOW, 100).map((it) => it.getTime());
    expect(times).toEqual([...new Set(times)].toSorted((one, other) => one - other));
    expect(times).toHaveLength(100);
  });

  it('have one time for `at`', () => {
    const at = '2027-01-01T00:00:00+01:00';
    expect(timesOf({ at }, '2026-01-01T00:00:00Z', 3)).toEqual(['12-31T23:00']);
    expect(timesOf({ at }, '2026-12-31T23:00:00Z', 3)).toEqual([]);
  });
});

describe('findTimingProblems', () => {
  it.each<[timing: ScheduleTiming, path: string, detail: string]>([
    [{}, 'cron', 'exactly one of'],
    [{ cron: '@daily', every: '1h' }, 'cron', 'exactly one of'],
    [{ cron: '61 * * * *' }, 'cron', 'Invalid value for minute: 61'],
    [{ cron: '* * * *' }, 'cron', 'five fields'],
    [{ cron: '0 0 1 1 * 2030 7' }, 'cron', 'five fields'],
    [{ cron: '2027-01-01T00:00:00Z' }, 'cron', 'five fields'],
    [{ cron: '@reboot' }, 'cron', 'five fields'],
    [{ cron: `${'1,'.repeat(60)}1 * * * *` }, 'cron', 'at most 100 characters'],
    [{ cron: '0 9 31 2 *' }, 'cron', 'never fires'],
    [{ cron: '@daily', timeZone: 'Mars/Base' }, 'timeZone', 'IANA name'],
    [{ cron: '@daily', timeZone: '+02:00' }, 'timeZone', 'IANA name'],
    [{ every: '1h', timeZone: 'UTC' }, 'timeZone', 'belongs to cron'],
    [{ every: '999ms' }, 'every', 'from 1s to 365d'],
    [{ every: 'daily' }, 'every', 'from 1s to 365d'],
    [{ every: '99999999999999d' }, 'every', 'from 1s to 365d'],
    [{ at: 'tomorrow' }, 'at', 'must be a time'],
    [{ every: '1h', startAt: '2027-13-01T00:00:00Z' }, 'startAt', 'must be a time'],
    [{ every: '1h', startAt: '2027-01-02T00:00:00Z', endAt: '2027-01-01T00:00:00Z' }, 'endAt', 'later than startAt'],
    [{ every: '1h', endAt: '2020-01-01T00:00:00Z' }, 'every', 'never fires'],
  ])('names what is wrong with %j', (timing, path, detail) => {
    expect(findTimingProblems(timing, NOW)).toEqual([{ path, detail: expect.stringContaining(detail) }]);
  });

  it.each<ScheduleTiming>([
    { cron: '30 7 * * mon-fri', timeZone: 'Europe/Berlin' },
    { cron: '0 0 L * *' },
    { every: '15m', startAt: '2027-01-01T00:00:00Z' },
    { at: '2020-01-01T00:00:00Z' },
  ])('finds nothing wrong with %j', (timing) => {
    expect(findTimingProblems(timing, NOW)).toEqual([]);
  });
});
