import { type CallerIdentity, CallerTurns, NoTurnInTime } from './caller-turns.js';

const [A, B, C] = ['a', 'b', 'c'].map((owner): CallerIdentity => ({ tenant: '', owner })) as [
  CallerIdentity,
  CallerIdentity,
  CallerIdentity,
];

let begun: string[];
let ends: Map<string, () => void>;
let turns: CallerTurns;

beforeEach(() => {
  begun = [];
  ends = new Map();
  turns = new CallerTurns({ places: 4, placesOfACaller: 2, placesOfATenant: 3, waitMs: 60_000 });
});

it('keeps places for other callers, however much one asks for', async () => {
  for (let index = 0; index < 1_000; index += 1) void work(A, `a${index}`);
  void work(B, 'b0');
  await settled();
  expect(begun).toEqual(['a0', 'a1', 'b0']);
});

it('keeps a place for other tenants, however many callers of one tenant ask', async () => {
  for (const caller of [A, B, C])
    for (let index = 0; index < 5; index += 1) void work(caller, `${caller.owner}${index}`);
  void work({ tenant: 'another', owner: 'd' }, 'd0');
  await settled();
  expect(begun).toHaveLength(4);
  expect(begun).toContain('d0');
});

it('gives callers that wait their turns one after the other', async () => {
  turns = new CallerTurns({ places: 1, placesOfACaller: 1, placesOfATenant: 1, waitMs: 60_000 });
  for (const name of ['a0', 'a1', 'a2']) void work(A, name);
  for (const name of ['b0', 'b1']) void work(B, name);
  void work(C, 'c0');
  for (let index = 0; index < 5; index += 1) {
    await settled();
    ends.get(begun.at(-1)!)!();
  }
  await settled();
  expect(begun).toEqual(['a0', 'a1', 'b0', 'c0', 'a2', 'b1']);
});

it('gives up work whose client leaves while it waits, and never begins it', async () => {
  const leaving = new AbortController();
  for (const name of ['a0', 'a1']) void work(A, name);
  const left = work(A, 'a2', leaving.signal);
  void work(A, 'a3');
  leaving.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  ends.get('a0')!();
  await settled();
  expect(begun).toEqual(['a0', 'a1', 'a3']);
  await expect(work(A, 'a4', leaving.signal)).rejects.toThrow('left');
});

it('refuses work that had no turn in time, and the next has its place', async () => {
  turns = new CallerTurns({ places: 1, placesOfACaller: 1, placesOfATenant: 1, waitMs: 1 });
  void work(A, 'a0');
  await expect(work(A, 'a1')).rejects.toBeInstanceOf(NoTurnInTime);
  expect(turns.waiting).toBe(0);
  ends.get('a0')!();
  await settled();
  void work(B, 'b0');
  await settled();
  expect(begun).toEqual(['a0', 'b0']);
});

it('gives the place back of work that fails', async () => {
  for (let index = 0; index < 10; index += 1) {
    await expect(turns.runInTurn(A, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  }
  void work(A, 'a0');
  await settled();
  expect(begun).toEqual(['a0']);
});

function work(caller: CallerIdentity, name: string, gone?: AbortSignal): Promise<void> {
  const running = turns.runInTurn(
    caller,
    async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
    },
    gone,
  );
  running.catch(() => undefined);
  return running;
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
