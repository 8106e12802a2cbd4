import { ResponseBudget, ResponseBudgetExceeded } from './response-budget.js';
import { Metrics } from '#libs/service';

function roomOf(answerBytes: number, longestWaitMs?: number): ResponseBudget {
  return new ResponseBudget({ memory: { answerBytes } } as never, new Metrics(), longestWaitMs);
}

/** Whether it has entered when everything that can happen has happened. */
async function isIn(entering: Promise<unknown>): Promise<boolean> {
  const later = new Promise<false>((resolve) => setImmediate(resolve, false));
  return Promise.race([entering.then(() => true), later]);
}

describe('ResponseBudget', () => {
  it('lets answers in while there is room, and the others in the order in which they came', async () => {
    const room = roomOf(100);
    const [first, second] = [await room.enter(60), await room.enter(40)];
    const [large, small] = [room.enter(80), room.enter(10)];
    expect([await isIn(large), await isIn(small)]).toEqual([false, false]);
    second();
    expect([await isIn(large), await isIn(small)]).toEqual([false, false]);
    first();
    expect([await isIn(large), await isIn(small)]).toEqual([true, true]);
  });

  it('lets one in that is larger than all the room, alone', async () => {
    const room = roomOf(100);
    const leave = await room.enter(1_000);
    const next = room.enter(1);
    expect(await isIn(next)).toBe(false);
    leave();
    expect(await isIn(next)).toBe(true);
  });

  it('refuses who waits too long, and lets in who waited behind him', async () => {
    const room = roomOf(100, 20);
    const leave = await room.enter(60);
    const large = room.enter(80);
    await expect(large).rejects.toThrow(ResponseBudgetExceeded);
    expect(await isIn(room.enter(40))).toBe(true);
    leave();
    expect(await isIn(room.enter(60))).toBe(true);
  });
});
