import { describeTiming, scheduleBody, timingIn, timingKindOf, toLocalField } from './schedule-fields.js';

function form(fields: Record<string, string>): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.set(name, value);
  return data;
}

describe('the fields of a schedule', () => {
  it('describe each kind of times in a few words', () => {
    expect(describeTiming({ cron: '30 7 * * mon-fri', timeZone: 'Europe/Berlin' })).toBe(
      '30 7 * * mon-fri (Europe/Berlin)',
    );
    expect(describeTiming({ cron: '@daily' })).toBe('@daily (UTC)');
    expect(describeTiming({ every: '15m' })).toBe('every 15m');
    expect(describeTiming({ at: '2027-03-01T08:00:00Z' })).toMatch(/^once, .*2027/);
  });

  it('know the kind of a saved schedule', () => {
    expect([
      timingKindOf({ cron: '@daily' }),
      timingKindOf({ every: '1h' }),
      timingKindOf({ at: '2027-03-01' }),
    ]).toEqual(['cron', 'every', 'at']);
  });

  it('send the times of the chosen kind only, and no empty field', () => {
    const fields = form({ cron: '0 8 * * *', every: '5m', timeZone: 'Europe/Berlin', startAt: '', jitter: ' 30s ' });

    expect(timingIn(fields, 'cron')).toEqual({ cron: '0 8 * * *', timeZone: 'Europe/Berlin', jitter: '30s' });
    expect(timingIn(fields, 'every')).toEqual({ every: '5m', jitter: '30s' });
  });

  it('send local times in UTC, and show them again as they were entered', () => {
    const entered = '2027-03-01T08:30:00';
    const { at } = timingIn(form({ at: entered }), 'at');

    expect(at).toBe(new Date(entered).toISOString());
    expect(toLocalField(at)).toEqual({ defaultValue: entered, step: 1 });
    expect(toLocalField(undefined)).toEqual({ defaultValue: '', step: 1 });
  });

  it('keep the milliseconds of a time that was set by the API', () => {
    const startAt = '2027-03-01T08:30:00.123Z';
    const { defaultValue, step } = toLocalField(startAt);

    expect(timingIn(form({ startAt: defaultValue }), 'every')).toEqual({ startAt });
    expect(step).toBe(0.001);
  });

  it('leave a text that is no time to the service, which names the field', () => {
    expect(timingIn(form({ at: 'tomorrow' }), 'at')).toEqual({ at: 'tomorrow' });
  });

  it('form the body of the request', () => {
    const fields = form({
      name: 'daily',
      workflow: 'greeting',
      overlap: 'queue',
      catchUp: '',
      pauseAfterFailures: '3',
    });
    fields.set('every', '1h');

    expect(scheduleBody(fields, 'every', { name: 'Ada' })).toEqual({
      name: 'daily',
      workflow: 'greeting',
      overlap: 'queue',
      inputs: { name: 'Ada' },
      every: '1h',
      pauseAfterFailures: 3,
    });
  });
});
