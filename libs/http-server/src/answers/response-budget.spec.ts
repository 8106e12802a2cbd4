import { Metrics } from '#libs/service';
import { ResponseBudget, ResponseBudgetExceeded } from './response-budget.js';

const NOBODY = { tenant: '', owner: '' };
const ANN = { tenant: '', owner: 'ann' };
const BOB = { tenant: '', owner: 'bob' };

function roomOf(answerBytes: number, longestWaitMs?: number): ResponseBudget {
  return new ResponseBudget({ memory: { answerBytes } } as never, new Metrics(), longestWaitMs);
}

/** Requests room for an answer; a later rejection of the result does not fail the test. */
function ask(room: ResponseBudget, bytes: number, whose: typeof ANN): Promise<() => void> {
  const entering = room.enterAnswer(bytes, whose);
  entering.catch(() => undefined);
  return entering;
}

/** True if room was granted by the end of this cycle of the event loop. */
async function isIn(entering: Promise<unknown>): Promise<boolean> {
  const later = new Promise<false>((resolve) => setImmediate(resolve, false));
  return Promise.race([entering.then(() => true), later]);
}

async function areIn(entering: readonly Promise<unknown>[]): Promise<boolean[]> {
  return Promise.all(entering.map(isIn));
}

describe('ResponseBudget', () => {
  it('lets answers in while there is room, and the others in the order in which they came', async () => {
    const room = roomOf(100);
    const [first, second] = [await room.enterAnswer(60, NOBODY), await room.enterAnswer(40, NOBODY)];
    const waiting = [room.enterAnswer(80, NOBODY), room.enterAnswer(10, NOBODY)];
    expect(await areIn(waiting)).toEqual([false, false]);
    second();
    expect(await areIn(waiting)).toEqual([false, false]);
    first();
    expect(await areIn(waiting)).toEqual([true, true]);
  });

  it('lets one in that is larger than all the room, alone', async () => {
    const room = roomOf(100);
    const leave = await room.enterAnswer(1_000, NOBODY);
    const next = ask(room, 1, NOBODY);
    expect(await isIn(next)).toBe(false);
    leave();
    expect(await isIn(next)).toBe(true);
  });

  it('refuses who waits too long, and lets in who waited behind him', async () => {
    const room = roomOf(100, 20);
    const leave = await room.enterAnswer(60, NOBODY);
    const large = room.enterAnswer(80, NOBODY);
    await expect(large).rejects.toThrow(ResponseBudgetExceeded);
    expect(await isIn(room.enterAnswer(40, NOBODY))).toBe(true);
    leave();
    expect(await isIn(room.enterAnswer(60, NOBODY))).toBe(true);
  });

  it('gives one caller half of the room, however much it asks for, and the rest to others', async () => {
    const room = roomOf(100);
    const anns = Array.from({ length: 20 }, () => ask(room, 20, ANN));
    expect((await areIn(anns)).filter(Boolean)).toHaveLength(2);
    expect(await areIn([room.enterAnswer(30, BOB), room.enterAnswer(20, BOB)])).toEqual([true, true]);
  });

  it('lets a caller have one answer that is larger than its half', async () => {
    const room = roomOf(100);
    const large = await room.enterAnswer(70, ANN);
    const more = room.enterAnswer(1, ANN);
    expect([await isIn(more), await isIn(room.enterAnswer(30, BOB))]).toEqual([false, true]);
    large();
    expect(await isIn(more)).toBe(true);
  });

  it('leaves other tenants a part of the room, however many callers of one tenant ask', async () => {
    const room = roomOf(100);
    const names = Array.from({ length: 20 }, (_, n) => ({ tenant: 'acme', owner: `owner${n}` }));
    const entered = (await areIn(names.map((it) => ask(room, 20, it)))).filter(Boolean);
    expect(entered).toHaveLength(3);
    expect(await isIn(room.enterAnswer(40, { tenant: 'other', owner: 'bob' }))).toBe(true);
  });

  it('has callers take turns, whoever waits with more', async () => {
    const room = roomOf(100);
    const leave = await room.enterAnswer(100, BOB);
    const anns = Array.from({ length: 5 }, () => ask(room, 60, ANN));
    const bobs = ask(room, 60, BOB);
    leave();
    (await anns[0]!)();
    expect([await isIn(bobs), await isIn(anns[1]!)]).toEqual([true, false]);
  });

  it('forgets a caller that has given up waiting', async () => {
    const room = roomOf(100, 20);
    const leave = await room.enterAnswer(100, BOB);
    await expect(room.enterAnswer(60, ANN)).rejects.toThrow(ResponseBudgetExceeded);
    leave();
    expect(await isIn(room.enterAnswer(100, BOB))).toBe(true);
  });
});
