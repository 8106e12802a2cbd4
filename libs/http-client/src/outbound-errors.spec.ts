import { requestedPause } from './outbound-errors.js';

describe('the pause that a Retry-After asks for', () => {
  it.each([
    ['2', 2_000],
    ['1800', 1_800_000],
    ['7200', 7_200_000],
    ['31536000', 31_536_000_000],
  ])('is %s seconds', (header, pause) => expect(requestedPause(header)).toBe(pause));

  it('is too long where it has more digits than a time', () => {
    expect(requestedPause('9'.repeat(20))).toBeGreaterThan(31_536_000_000);
    expect(Number.isFinite(requestedPause('9'.repeat(5_000)))).toBe(true);
  });

  it.each([2, 1_800, 7_200, 31_536_000])('lasts until a date, %i s ahead', (seconds) => {
    const pause = requestedPause(new Date(Date.now() + seconds * 1_000 + 900).toUTCString());
    expect(pause).toBeGreaterThan((seconds - 60) * 1_000);
    expect(pause).toBeLessThanOrEqual((seconds + 1) * 1_000);
  });

  it.each(['1e99', 'soon', '', '-1', '1.5'])('is none where it says %p', (header) => {
    expect(requestedPause(header) ?? 0).toBe(0);
  });
});
