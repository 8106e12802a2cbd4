import { jest } from '@jest/globals';
import { Metrics } from '../metrics.js';
import { LoopShares } from './loop-shares.js';

beforeEach(() => jest.useFakeTimers({ doNotFake: ['queueMicrotask'] }));
afterEach(() => void jest.useRealTimers());

/** Creates shares of an event loop with a simulated clock: requests on the loop and idle pauses advance it. */
function setUp() {
  let busy = 0;
  const loop = { isBusy: true };
  const shares = new LoopShares(
    new Metrics(),
    () => performance.now() + busy,
    () => loop.isBusy,
  );
  const done: string[] = [];
  /** Sends a request that keeps the loop busy for `ms` milliseconds. */
  const ask = (who: string, ms: number, name = who): boolean => {
    shares.noteRequest(who);
    return shares.scheduleCostly(who, () => {
      busy += ms;
      done.push(name);
    });
  };
  /** Advances the clock while the `active` callers send requests that cost nothing. */
  const pass = async (ms: number, active: string[] = []): Promise<string[]> => {
    for (let passed = 0; passed < ms; passed += 10) {
      for (const who of active) shares.noteRequest(who);
      await jest.advanceTimersByTimeAsync(10);
    }
    return done.splice(0);
  };
  return { shares, loop, ask, pass, busy: () => busy };
}

describe('LoopShares', () => {
  it('delays nothing of a caller that is alone, whatever its requests cost', async () => {
    const { ask, pass } = setUp();
    for (let index = 0; index < 500; index += 1) expect(ask('ann', 1_000)).toBe(true);
    expect(await pass(1_000)).toHaveLength(500);
  });

  it('gives a costly caller a fifth of the time beside others, and its requests their turns in order', async () => {
    const { ask, pass, busy } = setUp();
    for (let index = 0; index < 200; index += 1) ask('ann', 50, `${index}`);
    const done = await pass(10_000, ['ann', 'bob']);
    expect(done).toEqual(Array.from({ length: done.length }, (_, index) => `${index}`));
    // Its burst, then four of the loop's idle milliseconds for one of its own.
    expect(busy()).toBeGreaterThan(2_250);
    expect(busy()).toBeLessThan(2_900);
  });

  it('shares among costly callers, whoever of them asks for more', async () => {
    const { ask, pass } = setUp();
    for (let index = 0; index < 250; index += 1) ask('ann', 20);
    for (let index = 0; index < 100; index += 1) ask('eve', 50);
    const done = await pass(4_000, ['bob']);
    const ofAnn = done.filter((who) => who === 'ann').length * 20;
    const ofEve = done.filter((who) => who === 'eve').length * 50;
    expect(ofAnn / ofEve).toBeGreaterThan(0.8);
    expect(ofAnn / ofEve).toBeLessThan(1.25);
  });

  it('has nobody wait more than two seconds at the head of a queue, and nobody once the others have left', async () => {
    const { ask, pass } = setUp();
    ask('ann', 60_000, 'dear');
    ask('ann', 1, 'next');
    expect(await pass(1_900, ['bob'])).toEqual(['dear']);
    expect(await pass(200, ['bob'])).toEqual(['next']);
    ask('ann', 60_000, 'dear');
    await pass(2_100, ['bob']);
    await pass(1_100);
    ask('ann', 1, 'alone');
    expect(await pass(10)).toEqual(['alone']);
  });

  it('charges what follows by promises that are resolved already', async () => {
    const { shares, pass } = setUp();
    let busy = 0;
    const later = async (): Promise<void> => {
      for (let step = 0; step < 20; step += 1) await Promise.resolve();
      busy += 1;
      shares.chargeCaller('ann', 500);
    };
    shares.noteRequest('bob');
    shares.scheduleCostly('ann', () => void later());
    await pass(20, ['bob']);
    expect(busy).toBe(1);
    expect(shares.isOwing('ann')).toBe(true);
    expect(shares.isOwing('bob')).toBe(false);
  });

  it('leaves a costly caller its fifth beside many that are charged with little', async () => {
    const { shares, ask, pass, busy } = setUp();
    for (let index = 0; index < 200; index += 1) ask('ann', 50);
    for (let index = 0; index < 100; index += 1) shares.chargeCaller(`caller-${index}`, 20);
    await pass(10_000, ['ann', 'bob']);
    expect(busy()).toBeGreaterThan(2_250);
  });

  it('delays nothing while the loop has time to spare', async () => {
    const { loop, shares, ask, pass } = setUp();
    loop.isBusy = false;
    for (let index = 0; index < 100; index += 1) ask('ann', 50);
    expect(await pass(1_000, ['bob'])).toHaveLength(100);
    expect(shares.delayMs('ann')).toBe(0);
    loop.isBusy = true;
    shares.noteRequest('bob');
    expect(shares.delayMs('ann')).toBeGreaterThan(0);
    expect(shares.delayMs('bob')).toBe(0);
  });

  it('refuses beyond 256 that wait while others ask, and does none of it', async () => {
    const { ask, pass } = setUp();
    const alone = Array.from({ length: 300 }, () => ask('ann', 0));
    expect(alone).not.toContain(false);
    await pass(1_000);
    ask('ann', 1_000);
    await pass(10, ['bob']);
    const beside = Array.from({ length: 300 }, () => ask('ann', 0));
    expect(beside.filter((taken) => taken)).toHaveLength(256);
    expect(await pass(5_000, ['bob'])).toHaveLength(256);
  });

  it('forgets who owes nothing', async () => {
    const { shares, ask, pass } = setUp();
    for (let index = 0; index < 50; index += 1) ask(`caller-${index}`, 1);
    await pass(5_000, ['bob']);
    ask('ann', 1);
    expect((shares as unknown as { accounts: Map<string, unknown> }).accounts.size).toBe(1);
  });
});
