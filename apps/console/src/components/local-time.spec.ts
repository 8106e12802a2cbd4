import { localTime } from './local-time.js';

describe('localTime', () => {
  const now = new Date(2026, 0, 31, 10, 0).getTime();

  it('leaves out the date of today, and the year of this year', () => {
    expect(localTime(new Date(2026, 0, 31, 23, 5).toISOString(), now)).toMatch(/^\D*\d{1,2}:05\D*$/);
    expect(localTime(new Date(2026, 1, 2, 9, 30).toISOString(), now)).toMatch(/2.*9:30/);
    expect(localTime(new Date(2026, 1, 2, 9, 30).toISOString(), now)).not.toContain('2026');
    expect(localTime(new Date(2027, 1, 2, 9, 30).toISOString(), now)).toContain('2027');
  });
});
