import { setTimeout as delay } from 'node:timers/promises';
import type { Shutdown } from '#libs/service';
import type { PushDeliveries } from './push-deliveries.js';
import { PushDispatcher } from './push-dispatcher.js';
import { PLACES, PLACES_OF_A_CALLER, UNPROVEN_OF_A_CALLER, UNPROVEN_OF_A_TENANT } from './push-places.js';
import type { DueQueue, FoundQueues, PushCaller, PushLane, PushQueue, PushQueues } from './push-queues.js';

/** Due queues, by receiver. */
let due: Map<string, DueQueue>;
/** Receivers with an attempt under way, in the order of the attempts, and the function that ends the attempt. */
let underWay: Map<string, () => void>;
let attemptMs: Map<string, number>;
let leaves: string[];
let leaveFailures: number;
type Step = Parameters<Shutdown['registerStep']>[1];

let steps: Step[];
let dispatcher: PushDispatcher;

beforeEach(() => {
  due = new Map();
  underWay = new Map();
  attemptMs = new Map();
  leaves = [];
  leaveFailures = 0;
  steps = [];
  dispatcher = started();
});

afterEach(async () => {
  const stopping = steps.map((step) => step({ signal: AbortSignal.abort() }));
  for (const end of underWay.values()) end();
  await Promise.all(stopping);
});

it('leaves places for other callers, however many receivers of one caller hang', async () => {
  addQueues('attacker', 300);
  dispatcher.lookForDue();
  await settled();
  expect(underWay.size).toBe(UNPROVEN_OF_A_CALLER);
  addQueues('victim', 1);
  dispatcher.lookForDue();
  await settled();
  expect([...underWay.keys()].at(-1)).toBe('http://victim-0.test');
});

it('leaves places for other callers, although the receivers that hang now answered before', async () => {
  addQueues('attacker', 300, { answered: true });
  dispatcher.lookForDue();
  await settled();
  expect(underWay.size).toBe(PLACES_OF_A_CALLER);
  addQueues('victim', 1);
  dispatcher.lookForDue();
  await settled();
  expect(underWay.has('http://victim-0.test')).toBe(true);
});

it('leaves places for other tenants, however many owners of one tenant have receivers that hang', async () => {
  for (let owner = 0; owner < 20; owner += 1) addQueues(`attacker${owner}`, 30, { tenant: 'attackers' });
  dispatcher.lookForDue();
  await settled();
  expect(underWay.size).toBe(UNPROVEN_OF_A_TENANT);
  addQueues('victim', 1, { tenant: 'victims' });
  dispatcher.lookForDue();
  await settled();
  expect(underWay.has('http://victim-0.test')).toBe(true);
});

it('calls the receivers of a caller that answer while its others hang', async () => {
  addQueues('mixed', 100);
  addQueues('mixed', 3, { answered: true, name: 'good' });
  dispatcher.lookForDue();
  await settled();
  expect([...underWay.keys()].filter((it) => it.includes('good'))).toHaveLength(3);
  expect(underWay.size).toBe(UNPROVEN_OF_A_CALLER + 3);
});

it('gives callers their turns one after the other', async () => {
  for (const owner of ['a', 'b', 'c']) addQueues(owner, 5, { answered: true });
  dispatcher.lookForDue();
  await settled();
  expect(
    [...underWay.keys()]
      .slice(0, 3)
      .map((it) => it.slice(7, 8))
      .toSorted(),
  ).toEqual(['a', 'b', 'c']);
});

it('never works in more lanes than it has places, and takes the next as soon as one ends', async () => {
  for (let owner = 0; owner < 30; owner += 1) {
    addQueues(`o${owner}`, 4, { answered: true, tenant: `t${owner % 10}` });
  }
  dispatcher.lookForDue();
  await settled();
  expect(underWay.size).toBe(PLACES);
  const [first, end] = [...underWay][0]!;
  end();
  await settled();
  expect(underWay.size).toBe(PLACES);
  expect(leaves).toEqual([first]);
});

it('gives an attempt less time where its receiver hung before and others of its caller wait', async () => {
  addQueues('calm', 1, { failures: 3 });
  addQueues('crowd', 100, { failures: 3 });
  dispatcher.lookForDue();
  await settled();
  expect(attemptMs.get('http://calm-0.test')).toBe(10_000);
  expect([...attemptMs.values()].filter((ms) => ms === 3_000).length).toBeGreaterThan(0);
});

it('ends a lane although the database is away for a moment', async () => {
  leaveFailures = 2;
  addQueues('a', 1);
  dispatcher.lookForDue();
  await settled();
  underWay.get('http://a-0.test')!();
  await until(() => leaves.length === 1);
  expect(leaves).toEqual(['http://a-0.test']);
});

it('begins nothing more once the process stops', async () => {
  void steps[0]!({ signal: new AbortController().signal });
  addQueues('a', 1);
  dispatcher.lookForDue();
  await settled();
  expect(underWay.size).toBe(0);
});

function addQueues(owner: string, count: number, more: Partial<DueQueue> & { name?: string } = {}): void {
  const { name = owner, tenant = '', answered = false, failures = 0 } = more;
  for (let index = 0; index < count; index += 1) {
    const receiver = `http://${name}-${index}.test`;
    due.set(receiver, { tenant, owner, receiver, answered, failures });
  }
}

/** Waits fifty cycles of the event loop, in which the searches under way with fake queues end. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(5);
}

function started(): PushDispatcher {
  const deliveries = {
    workLane: async ({ receiver }: PushLane, ms: number) => {
      attemptMs.set(receiver, ms);
      await new Promise<void>((resolve) => underWay.set(receiver, resolve));
      underWay.delete(receiver);
    },
  };
  const shutdown = { registerStep: (_phase: string, step: Step) => steps.push(step) };
  const made = new PushDispatcher(
    fakeQueues() as unknown as PushQueues,
    deliveries as unknown as PushDeliveries,
    shutdown as unknown as Shutdown,
  );
  made.onApplicationBootstrap();
  return made;
}

/**
 * Creates queues that `findDue` returns as the table would: a few of each caller, in the order of the callers' names.
 */
function fakeQueues(): Partial<PushQueues> {
  return {
    onDue: () => undefined,
    freeLostLanes: async () => undefined,
    freeOwnLanes: async () => undefined,
    findDue: async (after?: PushCaller): Promise<FoundQueues> => {
      const callers = Map.groupBy(due.values(), ({ tenant, owner }) => `${tenant}/${owner}`);
      const from = after && `${after.tenant}/${after.owner}`;
      const next = [...callers]
        .filter(([key]) => from === undefined || key > from)
        .toSorted(([a], [b]) => (a < b ? -1 : 1));
      const queues = next.flatMap(([, its]) =>
        [true, false].flatMap((answered) => its.filter((it) => it.answered === answered).slice(0, 4)),
      );
      const last = queues.at(-1);
      return { queues, ...(last && { last }) };
    },
    openLanes: async (found: readonly PushQueue[]) =>
      found.map(({ receiver }) => {
        const queue = due.get(receiver)!;
        due.delete(receiver);
        return { ...queue, number: 0, holder: receiver };
      }),
    endLane: async ({ receiver }) => {
      if (leaveFailures-- > 0) throw Object.assign(new Error('away'), { code: '57P01' });
      leaves.push(receiver);
    },
  };
}
