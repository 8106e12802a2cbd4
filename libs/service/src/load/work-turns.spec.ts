import { Metrics } from '../metrics.js';
import { LoopShares } from './loop-shares.js';
import { WorkTurns } from './work-turns.js';

const NEVER = new AbortController().signal;

/** Creates turns on an event loop whose clock the test sets. */
function setUp() {
  const clock = { ms: 0 };
  const shares = new LoopShares(
    new Metrics(),
    () => clock.ms,
    () => true,
  );
  return { clock, shares, turns: new WorkTurns(shares) };
}

/** Waits fifty cycles of the event loop, enough for all work that waits for no timer. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('WorkTurns', () => {
  it('begins work of one caller in its order, a few pieces in a turn of the event loop', async () => {
    const { turns } = setUp();
    const begun: number[] = [];
    let mostAtOnce = 0;
    let ofTurn = 0;
    const work = Array.from({ length: 20 }, async (_, index) => {
      await turns.createTurn('ann').awaitTurn(NEVER);
      begun.push(index);
      ofTurn += 1;
      mostAtOnce = Math.max(mostAtOnce, ofTurn);
      setImmediate(() => (ofTurn = 0));
    });
    await Promise.all(work);
    expect(begun).toEqual(Array.from({ length: 20 }, (_, index) => index));
    expect(mostAtOnce).toBeLessThanOrEqual(4);
  });

  it('charges work to its caller, which waits beside others, and nobody else does', async () => {
    const { clock, shares, turns } = setUp();
    shares.noteRequest('ann');
    shares.noteRequest('bob');
    await turns.createTurn('ann').awaitTurn(NEVER);
    clock.ms += 500;
    await settled();
    shares.noteRequest('bob');
    expect([shares.isOwing('ann'), shares.isOwing('bob')]).toEqual([true, false]);
    const done: string[] = [];
    void turns
      .createTurn('ann')
      .awaitTurn(NEVER)
      .then(() => done.push('ann'));
    await turns.createTurn('bob').awaitTurn(NEVER);
    await settled();
    expect(done).toEqual([]);
  });

  it('delays nothing of a caller that is alone, whatever it owes', async () => {
    const { shares, turns } = setUp();
    shares.noteRequest('ann');
    const ann = turns.createTurn('ann');
    ann.chargeTime(60_000);
    await ann.awaitTurn(NEVER);
  });

  it('gives no turn to work that nobody wants any more', async () => {
    const { turns } = setUp();
    const gone = Array.from({ length: 100 }, () => turns.createTurn('ann').awaitTurn(AbortSignal.abort()));
    let turnsOfLoop = 0;
    const count = setInterval(() => (turnsOfLoop += 1), 0);
    const counted = setImmediate(() => (turnsOfLoop = 0));
    await turns.createTurn('ann').awaitTurn(NEVER);
    await Promise.all(gone);
    clearInterval(count);
    clearImmediate(counted);
    expect(turnsOfLoop).toBeLessThan(10);
  });

  it('neither delays nor charges callers without a name', async () => {
    const { shares, turns } = setUp();
    shares.noteRequest('bob');
    turns.createTurn(undefined).chargeTime(60_000);
    await turns.createTurn(undefined).awaitTurn(NEVER);
  });

  it('waits, and is not refused, where too many costly requests of its caller wait', async () => {
    const { clock, shares, turns } = setUp();
    shares.noteRequest('bob');
    shares.chargeCaller('ann', 60_000);
    for (let request = 0; request < 256; request += 1) expect(shares.scheduleCostly('ann', () => undefined)).toBe(true);
    expect(shares.scheduleCostly('ann', () => undefined)).toBe(false);
    const work = turns.createTurn('ann').awaitTurn(NEVER);
    clock.ms += 10_000;
    await work;
  });
});
