import { setImmediate as turn } from 'node:timers/promises';
import { RunTurns } from './work-budget.js';

const NEVER = new AbortController().signal;

/**
 * Queues runs such as `a1 a2 b1` (the letter names the caller). Returns the runs that continued, by cycle of the event
 * loop.
 */
async function turnsOf(runs: string): Promise<string[][]> {
  const turns = new RunTurns();
  const names = runs.split(' ');
  let wentOn: string[] = [];
  const all = names.map((name) => turns.next(name.charAt(0), NEVER).then(() => wentOn.push(name)));
  const seen: string[][] = [];
  for (let looks = 0; seen.flat().length < names.length && looks < 100; looks += 1) {
    await turn();
    if (wentOn.length > 0) seen.push(wentOn);
    wentOn = [];
  }
  await Promise.all(all);
  return seen;
}

it('RunTurns lets one run go on in each turn of the event loop, those of one caller in their order', async () => {
  expect(await turnsOf('a1 a2 a3')).toEqual([['a1'], ['a2'], ['a3']]);
});

it('RunTurns lets callers take turns', async () => {
  expect(await turnsOf('a1 a2 a3 b1 c1 c2')).toEqual([['a1'], ['b1'], ['c1'], ['a2'], ['c2'], ['a3']]);
});

it('RunTurns lets a run that asks again go behind the others', async () => {
  const turns = new RunTurns();
  const seen: string[] = [];
  const work = async (name: string): Promise<void> => {
    for (let stretch = 1; stretch <= 3; stretch += 1) {
      await turns.next(name, NEVER);
      seen.push(`${name}${stretch}`);
    }
  };
  await Promise.all([work('a'), work('b')]);
  expect(seen).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'b3']);
});

it('RunTurns lets a run that is canceled go on at once, and none of the others later', async () => {
  const turns = new RunTurns();
  const cancel = new AbortController();
  const seen: string[] = [];
  const waiting = [turns.next('a', NEVER), turns.next('a', cancel.signal), turns.next('a', NEVER)];
  const all = waiting.map((next, index) => next.then(() => seen.push(String(index))));
  cancel.abort();
  await Promise.all(all);
  expect(seen).toEqual(['1', '0', '2']);
  await turns.next('a', cancel.signal);
});

it('RunTurns has the runs of a caller that owes wait, and lets those of others continue', async () => {
  const owed = new Map([['a', 40]]);
  const turns = new RunTurns({ delayMs: (account) => owed.get(account) ?? 0, chargeCaller: () => undefined });
  const seen: string[] = [];
  const waiting = turns.next('a', NEVER).then(() => seen.push('a'));
  for (let stretch = 0; stretch < 3; stretch += 1) await turns.next('b', NEVER).then(() => seen.push('b'));
  expect(seen).toEqual(['b', 'b', 'b']);
  owed.clear();
  await waiting;
  expect(seen).toEqual(['b', 'b', 'b', 'a']);
});

it('RunTurns lets a run of a caller that owes end its wait when it is canceled', async () => {
  const turns = new RunTurns({ delayMs: () => 60_000, chargeCaller: () => undefined });
  const cancel = new AbortController();
  const waiting = turns.next('a', cancel.signal);
  cancel.abort();
  await waiting;
});

it('RunTurns charges a caller for what its run does until it waits', async () => {
  const charged: [string, number][] = [];
  const turns = new RunTurns({ delayMs: () => 0, chargeCaller: (account, ms) => charged.push([account, ms]) });
  await turns.next('a', NEVER);
  for (let step = 0; step < 20; step += 1) await Promise.resolve();
  for (const end = performance.now() + 5; performance.now() < end;);
  await turn();
  expect(charged.map(([account]) => account)).toEqual(['a']);
  expect(charged[0]![1]).toBeGreaterThanOrEqual(4);
});
