import { setTimeout as delay } from 'node:timers/promises';
import { watchLoopLoad } from './loop-shares.js';

function blockLoop(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}

describe('watchLoopLoad', () => {
  it('calls a loop busy that has worked without a pause', () => {
    const isBusy = watchLoopLoad();
    expect(isBusy()).toBe(false);
    blockLoop(150);
    expect(isBusy()).toBe(true);
  });

  it('does not call a loop busy that has waited', async () => {
    const isBusy = watchLoopLoad();
    blockLoop(150);
    expect(isBusy()).toBe(true);
    await delay(400);
    expect(isBusy()).toBe(false);
  });
});
