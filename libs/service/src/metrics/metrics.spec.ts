import { Metrics } from './metrics.js';

describe('Metrics', () => {
  it('gives the same metric to everyone who asks for its name', async () => {
    const metrics = new Metrics();
    metrics.counter('calls_total', 'Calls', ['outcome']).inc({ outcome: 'ok' });
    metrics.counter('calls_total', 'Calls', ['outcome']).inc({ outcome: 'ok' });
    metrics.histogram('wait_seconds', 'Waits').observe(0.002);
    expect(await metrics.read()).toContain('calls_total{outcome="ok"} 2');
    expect(await metrics.read()).toContain('wait_seconds_bucket{le="0.0025"} 1');
  });

  it('reads a gauge when it is asked', async () => {
    const metrics = new Metrics();
    let value = 1;
    metrics.gauge('open', 'Open', [], () => value);
    value = 5;
    expect(await metrics.read()).toMatch(/^open 5$/m);
  });

  it('reads a gauge with a label, value by value', async () => {
    const metrics = new Metrics();
    metrics.gauge('waiting', 'Waiting', ['reason'], async () => ({ input: 2, timer: 0 }));
    const text = await metrics.read();
    expect(text).toContain('waiting{reason="input"} 2');
    expect(text).toContain('waiting{reason="timer"} 0');
  });

  it('keeps each instance to itself', async () => {
    new Metrics().counter('mine_total', 'Mine').inc();
    expect(await new Metrics().read()).not.toContain('mine_total');
  });
});
