import { RateMeter } from './caller-limits.js';

describe('RateMeter', () => {
  it('gives one period’s requests at once, and no more', () => {
    const meter = new RateMeter({ requests: 3, perMs: 1000 });
    expect([meter.takeToken(0), meter.takeToken(0), meter.takeToken(0)]).toEqual([0, 0, 0]);
    expect(meter.takeToken(0)).toBeGreaterThan(330);
    expect(meter.takeToken(0)).toBeLessThan(334);
  });

  it('fills evenly, and never over the brim', () => {
    const meter = new RateMeter({ requests: 2, perMs: 1000 });
    meter.takeToken(0);
    meter.takeToken(0);
    expect(meter.takeToken(499)).toBeGreaterThan(0);
    expect(meter.takeToken(500)).toBe(0);
    expect(meter.takeToken(501)).toBeGreaterThan(0);
    expect([meter.takeToken(60_000), meter.takeToken(60_000)]).toEqual([0, 0]);
    expect(meter.takeToken(60_000)).toBeGreaterThan(0);
  });

  it('takes nothing where it refuses', () => {
    const meter = new RateMeter({ requests: 1, perMs: 1000 });
    meter.takeToken(0);
    for (let time = 1; time < 1000; time += 100) expect(meter.takeToken(time)).toBeGreaterThan(0);
    expect(meter.takeToken(1000)).toBe(0);
  });

  it('keeps to its rate over a long time', () => {
    const meter = new RateMeter({ requests: 7, perMs: 1000 });
    let taken = 0;
    for (let time = 0; time < 100_000; time += 3) if (meter.takeToken(time) === 0) taken += 1;
    expect(taken).toBeGreaterThan(700);
    expect(taken).toBeLessThan(710);
  });

  it('is idle once it is full', () => {
    const meter = new RateMeter({ requests: 10, perMs: 1000 });
    meter.takeToken(0);
    expect([meter.isIdle(99), meter.isIdle(100)]).toEqual([false, true]);
  });
});
