import { FiringTimes } from '../timing/schedule-timing.js';
import { jitterOf, MOST_QUEUED, MOST_TIMES, type Overlap, planFirings, type PlanState } from './firing-plan.js';

const at = (time: string): Date => new Date(`2027-01-01T${time}Z`);
const TIMES = new FiringTimes({ every: '1m' });

function plan(state: Partial<PlanState>, now: Date) {
  const { decisions, next } = planFirings(
    { times: TIMES, overlap: 'skip', catchUpMs: 600_000, next: at('00:00:00'), open: 0, queued: 0, ...state },
    now,
  );
  return {
    decided: decisions.map(({ due, state: decided }) => `${due.toISOString().slice(11, 19)} ${decided}`),
    reasons: decisions.flatMap(({ reason }) => reason ?? []),
    next: next?.toISOString().slice(11, 19),
  };
}

describe('planFirings', () => {
  it('decides about each time up to now, and none later', () => {
    expect(plan({}, at('00:00:00'))).toEqual({ decided: ['00:00:00 starting'], reasons: [], next: '00:01:00' });
    expect(plan({}, new Date(at('00:00:00').getTime() - 1)).decided).toEqual([]);
    expect(plan({ overlap: 'allow' }, at('00:02:30')).decided).toEqual([
      '00:00:00 starting',
      '00:01:00 starting',
      '00:02:00 starting',
    ]);
  });

  it.each<[overlap: Overlap, open: number, queued: number, decided: string[]]>([
    ['skip', 1, 0, ['skipped', 'skipped']],
    ['skip', 0, 0, ['starting', 'skipped']],
    ['skip', 0, 1, ['skipped', 'skipped']],
    ['queue-one', 1, 0, ['queued', 'skipped']],
    ['queue-one', 0, 0, ['starting', 'queued']],
    ['queue', 1, 0, ['queued', 'queued']],
    ['queue', 0, 1, ['queued', 'queued']],
    ['queue', 1, MOST_QUEUED - 1, ['queued', 'skipped']],
    ['cancel', 1, 0, ['starting', 'starting']],
    ['allow', 1, 0, ['starting', 'starting']],
    ['allow', 999, 0, ['starting', 'skipped']],
  ])('with overlap %s, %d open and %d queued runs', (overlap, open, queued, decided) => {
    const { decided: found } = plan({ overlap, open, queued }, at('00:01:00'));
    expect(found.map((it) => it.split(' ')[1])).toEqual(decided);
  });

  it('counts the times beyond the catch-up window as missed, together', () => {
    expect(plan({ overlap: 'allow', catchUpMs: 120_000 }, at('01:00:30'))).toEqual({
      decided: ['00:58:00 missed', '00:59:00 starting', '01:00:00 starting'],
      reasons: ['59 times were missed, from 2027-01-01T00:00:00.000Z on, because the catch-up window was over.'],
      next: '01:01:00',
    });
    expect(plan({ catchUpMs: 0 }, at('00:00:30')).reasons).toEqual([
      '1 time was missed, from 2027-01-01T00:00:00.000Z on, because the catch-up window was over.',
    ]);
  });

  it('takes a time at the very edge of the window', () => {
    expect(plan({ catchUpMs: 60_000 }, at('00:01:00')).decided).toEqual(['00:00:00 starting', '00:01:00 skipped']);
  });

  it('bounds what one step does, and reports an unbounded number of missed times', () => {
    const { decided, next } = plan({ overlap: 'allow', catchUpMs: 86_400_000 }, at('23:00:00'));
    expect([decided.length, next]).toEqual([MOST_TIMES, '01:40:00']);
    const late = plan({ times: new FiringTimes({ every: '1s' }), catchUpMs: 0 }, new Date('2028-01-01T00:00:00.500Z'));
    expect(late.reasons[0]).toMatch(/^more than 1000 times were missed/);
    expect(late.next).toBe('00:00:01');
  });

  it('ends with the last time', () => {
    const times = new FiringTimes({ at: '2027-01-01T00:00:00Z' });
    expect(plan({ times }, at('00:00:05'))).toEqual({ decided: ['00:00:00 starting'], reasons: [], next: undefined });
  });
});

describe('jitterOf', () => {
  it('is the same for the same time, within its bound, and spread', () => {
    const delays = Array.from({ length: 200 }, (_, index) => jitterOf('a', new Date(index * 60_000), 10_000));
    expect(delays).toEqual(delays.map((_, index) => jitterOf('a', new Date(index * 60_000), 10_000)));
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...delays)).toBeLessThan(10_000);
    expect(new Set(delays.map((delay) => Math.floor(delay / 1_000))).size).toBe(10);
    expect(jitterOf('a', new Date(), 0)).toBe(0);
  });
});
