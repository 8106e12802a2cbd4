import { type LoopMeter, watchLoopLoad } from './loop-shares.js';
import { until } from '../../../../test/support/until.js';

function blockLoop(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}

/** Event loop whose time passes as a test says. */
class FakeLoop {
  private active = 0;
  private idle = 0;
  readonly meter: LoopMeter = {
    now: () => this.active + this.idle,
    eventLoopUtilization: (end, start) => {
      const [active, idle] = [this.active - (start?.active ?? 0), this.idle - (start?.idle ?? 0)];
      return { active, idle, utilization: end === undefined ? 1 : active / (active + idle) };
    },
  };

  work(ms: number): void {
    this.active += ms;
  }

  rest(ms: number): void {
    this.idle += ms;
  }
}

describe('watchLoopLoad', () => {
  it('calls a loop busy that works three quarters of the time', () => {
    const loop = new FakeLoop();
    const isBusy = watchLoopLoad(loop.meter);
    loop.rest(25);
    loop.work(75);
    expect(isBusy()).toBe(true);
    loop.rest(26);
    loop.work(74);
    expect(isBusy()).toBe(false);
  });

  it('judges no period that is shorter than a tenth of a second', () => {
    const loop = new FakeLoop();
    const isBusy = watchLoopLoad(loop.meter);
    loop.work(99);
    expect(isBusy()).toBe(false);
    loop.work(1);
    expect(isBusy()).toBe(true);
    loop.rest(99);
    expect(isBusy()).toBe(true);
  });

  it('sees the work and the rest of the loop of this process', async () => {
    const isBusy = watchLoopLoad();
    blockLoop(150);
    expect(isBusy()).toBe(true);
    await until(() => !isBusy(), { what: 'the loop to rest' });
  });
});
