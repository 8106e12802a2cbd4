import { addMilliseconds, parseDuration } from './time.js';

describe('a duration', () => {
  it.each([
    ['500ms', 500],
    ['1.5s', 1_500],
    ['0s', 0],
    ['2m', 120_000],
    ['48h', 172_800_000],
    ['7d', 604_800_000],
  ])('%s', (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });

  it.each(['', '5', '5 s', '-1s', '.5s', '1.s', '1S', '1s ', 's', '1e3s', '1s\n', 5, null])('is not %j', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  it('is added to a moment, also where no date is so late', () => {
    expect(addMilliseconds(new Date(1_000), 500)).toEqual(new Date(1_500));
    expect(addMilliseconds(new Date(), parseDuration(`${'9'.repeat(400)}d`) ?? 0).toISOString()).toBe(
      '+275760-09-13T00:00:00.000Z',
    );
  });
});
