import { jest } from '@jest/globals';
import { Metrics } from './metrics.js';

describe('Metrics', () => {
  it('gives the same metric to everyone who asks for its name', async () => {
    const metrics = new Metrics();
    metrics.counter('calls_total', 'Calls', ['outcome']).inc({ outcome: 'ok' });
    metrics.counter('calls_total', 'Calls', ['outcome']).inc({ outcome: 'ok' });
    metrics.histogram('wait_seconds', 'Waits').observe(0.002);
    expect(await metrics.readExposition()).toContain('calls_total{outcome="ok"} 2');
    expect(await metrics.readExposition()).toContain('wait_seconds_bucket{le="0.0025"} 1');
  });

  it('reads a gauge when it is asked', async () => {
    const metrics = new Metrics();
    let value = 1;
    metrics.gauge('open', 'Open', [], () => value);
    value = 5;
    expect(await metrics.readExposition()).toMatch(/^open 5$/m);
  });

  it('reads a gauge with a label, value by value', async () => {
    const metrics = new Metrics();
    metrics.gauge('waiting', 'Waiting', ['reason'], async () => ({ input: 2, timer: 0 }));
    const text = await metrics.readExposition();
    expect(text).toContain('waiting{reason="input"} 2');
    expect(text).toContain('waiting{reason="timer"} 0');
  });

  it('tells all the rest while one gauge is not to be had, and asks for that once', async () => {
    jest.useFakeTimers();
    try {
      const metrics = new Metrics();
      const slow = Promise.withResolvers<number>();
      let asked = 0;
      metrics.gauge('slow', 'Slow', [], () => {
        asked += 1;
        return asked === 1 ? 7 : slow.promise;
      });
      metrics.gauge('stalled_seconds', 'Stalled', [], () => 3);
      await metrics.readExposition();
      for (let scrape = 0; scrape < 2; scrape += 1) {
        let text = '';
        void metrics.readExposition().then((read) => (text = read));
        await jest.advanceTimersByTimeAsync(2_000);
        expect(text).toMatch(/^slow 7$[^]*^stalled_seconds 3$/m);
      }
      expect(asked).toBe(2);
      slow.resolve(9);
      await slow.promise;
      await jest.advanceTimersByTimeAsync(0);
      expect(await metrics.readExposition()).toMatch(/^slow 9$/m);
    } finally {
      jest.useRealTimers();
    }
  });

  it('keeps each instance to itself', async () => {
    new Metrics().counter('mine_total', 'Mine').inc();
    expect(await new Metrics().readExposition()).not.toContain('mine_total');
  });
});
