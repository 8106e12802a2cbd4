import { KnownLimits, type SlotOutcome } from '#libs/limits';
import type { Database } from '#libs/postgres';
import { PostgresTaskStore } from '#libs/tasks';
import { PostgresRunSlots, RunDeck, WORKFLOW_MIGRATIONS } from '#libs/workflows';
import type { SlotRequest } from '#libs/workflow-engine';
import type { TestDatabase } from '../support/postgres.js';
import { openTaskDatabase } from './task-database.js';
import { newDraft } from './task-draft.js';

type Concurrency = SlotRequest['concurrency'];
type Draft = ReturnType<typeof newDraft>;

let server: TestDatabase;
let database: Database;
let store: PostgresTaskStore;
/** Two replicas: each has its own queue of requests, and its own runs on deck. */
let replicas: PostgresRunSlots[];
let decks: RunDeck[];

beforeAll(async () => {
  ({ server, database } = await openTaskDatabase(WORKFLOW_MIGRATIONS));
  store = new PostgresTaskStore(database);
  decks = [new RunDeck(database), new RunDeck(database)];
  replicas = decks.map((deck) => new PostgresRunSlots(database, deck, new KnownLimits(database)));
});

afterAll(async () => {
  await database?.close();
  await server?.drop();
});

let workflow = 0;

beforeEach(() => {
  workflow += 1;
});

async function created(options: Parameters<typeof newDraft>[0] = {}): Promise<Draft> {
  const draft = newDraft(options);
  await store.writeBatch([draft.created()]);
  return draft;
}

function request(
  { taskId, token }: { taskId: string; token: string },
  concurrency: Concurrency,
  { slots = replicas[0]!, tenant = '', key = '' } = {},
): Promise<SlotOutcome> {
  const call = { scope: { tenant, owner: '' } } as never;
  return slots.requestSlot({ taskId, token, call }, { workflow: `w${workflow}`, key, concurrency });
}

/** Ends a run, as its process would. */
async function end(draft: Draft): Promise<void> {
  await server.query(`UPDATE task SET state = 'TASK_STATE_COMPLETED' WHERE task_id = $1`, [draft.taskId]);
}

const jobsOf = async (draft: Draft): Promise<unknown[]> =>
  (
    await server.query<{ key: string }>('SELECT key FROM graphile_worker._private_jobs WHERE key LIKE $1', [
      `%${draft.taskId}`,
    ])
  ).map(({ key }) => key.replace(`/${draft.taskId}`, ''));

const gateOf = async (draft: Draft): Promise<string> =>
  (await server.query<{ gate: string }>('SELECT gate FROM run_slot WHERE task_id = $1', [draft.taskId]))[0]!.gate;

const isPassOnQueued = async (gate: string): Promise<boolean> =>
  (await server.query('SELECT FROM graphile_worker._private_jobs WHERE key = $1', [`runs.free-slot/${gate}`])).length >
  0;

/** Does something while another transaction holds the locks of a statement. */
async function whileLocked(statement: string, values: string[], act: () => Promise<void>): Promise<void> {
  const session = await database.pool.connect();
  try {
    await session.query('BEGIN');
    await session.query(statement, values);
    await act();
  } finally {
    await session.query('ROLLBACK');
    session.release();
  }
}

const LOCK_GATE = `SELECT pg_advisory_xact_lock(hashtextextended('run-slot ' || $1, 0))`;

const isHeld = async (draft: Draft): Promise<boolean | undefined> =>
  (await server.query<{ is_held: boolean }>('SELECT is_held FROM run_slot WHERE task_id = $1', [draft.taskId]))[0]
    ?.is_held;

const isDue = async (draft: Draft): Promise<unknown> =>
  (await server.query('SELECT wake_at <= now() AS due, claim_token FROM task WHERE task_id = $1', [draft.taskId]))[0];

describe('The slots of a workflow', () => {
  it('go to the runs in order, in the commit that ends a run', async () => {
    const [first, second, third] = [await created(), await created(), await created()];
    expect(await request(first, { limit: 1 })).toBe('held');
    expect(await request(second, { limit: 1 }, { slots: replicas[1]! })).toBe('next');
    expect(await request(third, { limit: 1 })).toBe('parked');
    expect(await isDue(third)).toEqual({ due: false, claim_token: null });
    await end(first);
    expect([await isHeld(first), await isHeld(second), await isHeld(third)]).toEqual([undefined, true, false]);
    expect(await jobsOf(second)).toEqual([]);
    expect(await isDue(second)).toMatchObject({ due: null });
    // The next run is woken early, so that it is on deck before the slot is free.
    expect(await isDue(third)).toEqual({ due: true, claim_token: null });
    expect(await jobsOf(third)).toEqual(['tasks.wake']);
    await end(second);
    expect(await isHeld(third)).toBe(true);
  });

  it('wake a run on deck without a signal too', async () => {
    const [first, second] = [await created(), await created()];
    await request(first, { limit: 1 });
    expect(await request(second, { limit: 1 })).toBe('next');
    const waiting = replicas[0]!.waitForSlot(second, undefined, new AbortController().signal);
    await end(first);
    await waiting;
    expect(await request(second, { limit: 1 })).toBe('held');
  });

  it('let a run on deck end its wait at its deadline, and when it is interrupted', async () => {
    const [first, second] = [await created(), await created()];
    await request(first, { limit: 1 });
    await request(second, { limit: 1 });
    await replicas[0]!.waitForSlot(second, new Date(), new AbortController().signal);
    await request(second, { limit: 1 });
    await replicas[0]!.waitForSlot(second, undefined, AbortSignal.abort());
    expect(await isHeld(second)).toBe(false);
  });

  it('park the next run while its replica has no place on deck', async () => {
    let others = 0;
    while (decks[1]!.takePlace(`other-${others}`)) others += 1;
    expect(others).toBeGreaterThan(0);
    const [first, second] = [await created(), await created()];
    await request(first, { limit: 1 });
    expect(await request(second, { limit: 1 }, { slots: replicas[1]! })).toBe('parked');
    for (let n = 0; n < others; n += 1) decks[1]!.leavePlace(`other-${n}`);
    await end(first);
    expect([await isHeld(second), await jobsOf(second)]).toEqual([true, ['tasks.wake']]);
  });

  it('are passed on by a job if another transaction holds the gate when a run ends', async () => {
    const [first, second] = [await created(), await created()];
    await request(first, { limit: 1 });
    await request(second, { limit: 1 });
    const gate = await gateOf(first);
    await whileLocked(LOCK_GATE, [gate], () => end(first));
    expect([await isHeld(first), await isHeld(second), await isPassOnQueued(gate)]).toEqual([true, false, true]);
    await replicas[1]!.changeGate({ gate });
    expect([await isHeld(first), await isHeld(second)]).toEqual([undefined, true]);
  });

  it('are passed on by a job if another transaction holds the row of the next run', async () => {
    const [first, second, third] = [await created(), await created(), await created()];
    for (const run of [first, second, third]) await request(run, { limit: 1 });
    await end(second);
    const gate = await gateOf(first);
    await whileLocked('SELECT FROM task WHERE task_id = $1 FOR UPDATE', [third.taskId], () => end(first));
    expect([await isHeld(third), await isPassOnQueued(gate)]).toEqual([false, true]);
    await replicas[0]!.changeGate({ gate });
    expect([await isHeld(first), await isHeld(third)]).toEqual([undefined, true]);
    expect(await isDue(third)).toEqual({ due: true, claim_token: null });
  });

  it('are never more than the limit, however requests and ends overlap', async () => {
    const runs = await Promise.all(Array.from({ length: 40 }, () => created()));
    const outcomes = await Promise.all(
      runs.map((run, index) => request(run, { limit: 5 }, { slots: replicas[index % 2]! })),
    );
    const countOf = (outcome: SlotOutcome): number => outcomes.filter((it) => it === outcome).length;
    expect([countOf('held'), countOf('next'), countOf('parked')]).toEqual([5, 5, 30]);
    const left = new Set(runs);
    const gate = await gateOf(runs[0]!);
    for (let most = 5; left.size > 0; most = Math.min(5, left.size)) {
      const holding: Draft[] = [];
      for (const run of left) if (await isHeld(run)) holding.push(run);
      expect(holding).toHaveLength(most);
      await Promise.all(holding.slice(0, 2).map((run) => end(run)));
      for (const run of holding.slice(0, 2)) left.delete(run);
      await replicas[1]!.changeGate({ gate });
    }
  });

  it('are those of one tenant, workflow and key', async () => {
    expect(await request(await created(), { limit: 1 })).toBe('held');
    expect(await request(await created(), { limit: 1 }, { tenant: 'other' })).toBe('held');
    expect(await request(await created(), { limit: 1 }, { key: 'a' })).toBe('held');
    expect(await request(await created(), { limit: 1 }, { key: '\0\ud800a' })).toBe('held');
    workflow += 1;
    expect(await request(await created(), { limit: 1 })).toBe('held');
  });

  it.each(['wait', 'skip', 'cancel-oldest'] as const)('count for the runs below a run too (%s)', async (onFull) => {
    const outer = await created();
    expect(await request(outer, { limit: 1, onFull })).toBe('held');
    const node = await created({ parentTaskId: outer.taskId });
    const inner = await created({ parentTaskId: node.taskId });
    expect(await request(inner, { limit: 1, onFull })).toBe('held');
    expect(await isHeld(inner)).toBeUndefined();
    expect(await isHeld(outer)).toBe(true);
    const beside = await created({ parentTaskId: (await created()).taskId });
    expect(await request(beside, { limit: 1, onFull: 'skip' })).toBe('full');
  });

  it('are passed on by the sweep by the newest limit', async () => {
    const runs = [await created(), await created(), await created()];
    for (const run of runs.slice(0, 2)) await request(run, { limit: 2 });
    expect(await request(runs[2]!, { limit: 1 })).toBe('next');
    await end(runs[0]!);
    await replicas[0]!.sweepSlots(new AbortController().signal);
    expect([await isHeld(runs[0]!), await isHeld(runs[1]!), await isHeld(runs[2]!)]).toEqual([undefined, true, false]);
    await end(runs[1]!);
    await replicas[0]!.sweepSlots(new AbortController().signal);
    expect(await isHeld(runs[2]!)).toBe(true);
  });

  it('are requested again without a second slot, after a lost answer or the death of the replica', async () => {
    const [first, second, third] = [await created(), await created(), await created()];
    expect(await request(first, { limit: 1 })).toBe('held');
    expect(await request(first, { limit: 1 }, { slots: replicas[1]! })).toBe('held');
    expect(await request(second, { limit: 1 })).toBe('next');
    expect(await request(second, { limit: 1 }, { slots: replicas[1]! })).toBe('next');
    expect(await request(third, { limit: 1 })).toBe('parked');
    expect(await request(third, { limit: 1 })).toBe('lost');
    expect(await store.claimTask(third.taskId, 'r', 'again')).toBeDefined();
    expect(await request({ ...third, token: 'again' }, { limit: 1 })).toBe('parked');
  });

  it('are not given to an execution without the claim, which writes nothing', async () => {
    const run = await created();
    expect(await request({ ...run, token: 'an earlier claim' }, { limit: 1 })).toBe('lost');
    expect(await isHeld(run)).toBeUndefined();
    expect(await request(run, { limit: 1 })).toBe('held');
  });

  it('are passed on by the sweep if no job is left to do so', async () => {
    const [first, second] = [await created(), await created()];
    await request(first, { limit: 1 });
    await request(second, { limit: 1 });
    await whileLocked(LOCK_GATE, [await gateOf(first)], () => end(first));
    await replicas[0]!.sweepSlots(AbortSignal.abort());
    expect(await isHeld(second)).toBe(false);
    await replicas[0]!.sweepSlots(new AbortController().signal);
    expect([await isHeld(first), await isHeld(second)]).toEqual([undefined, true]);
  });

  it('let a run that waits end without an effect on the others', async () => {
    const [first, second, third] = [await created(), await created(), await created()];
    for (const run of [first, second, third]) await request(run, { limit: 1 });
    await end(second);
    expect([await isHeld(first), await isHeld(second), await isHeld(third)]).toEqual([true, undefined, false]);
    await end(first);
    expect(await isHeld(third)).toBe(true);
  });

  it('refuse a run with skip, and leave no row of it', async () => {
    const [first, second] = [await created(), await created()];
    expect(await request(first, { limit: 1, onFull: 'skip' })).toBe('held');
    expect(await request(second, { limit: 1, onFull: 'skip' })).toBe('full');
    expect(await isHeld(second)).toBeUndefined();
    await end(second);
    expect(await jobsOf(second)).toEqual([]);
  });

  it('request the cancel of the oldest runs with cancel-oldest, also of those that wait', async () => {
    const runs = [await created(), await created(), await created()];
    const outcomes: SlotOutcome[] = [];
    for (const run of runs) outcomes.push(await request(run, { limit: 1, onFull: 'cancel-oldest' }));
    expect(outcomes).toEqual(['held', 'next', 'parked']);
    const canceled = await server.query<{ task_id: string }>(
      'SELECT task_id FROM task WHERE cancel_requested_at IS NOT NULL AND task_id = ANY($1) ORDER BY task_id',
      [runs.map(({ taskId }) => taskId)],
    );
    expect(canceled.map((row) => row.task_id)).toEqual([runs[0]!.taskId, runs[1]!.taskId].toSorted());
    expect(await isDue(runs[1]!)).toMatchObject({ due: true });
  });

  it('request the cancel of a run by a job if another transaction holds its row', async () => {
    const [first, second] = [await created(), await created()];
    await request(first, { limit: 1 });
    const gate = await gateOf(first);
    await whileLocked('SELECT FROM task WHERE task_id = $1 FOR UPDATE', [first.taskId], async () => {
      expect(await request(second, { limit: 1, onFull: 'cancel-oldest' })).toBe('next');
    });
    const isCanceled = async (): Promise<unknown> =>
      (
        await server.query('SELECT cancel_requested_at IS NOT NULL AS is FROM task WHERE task_id = $1', [first.taskId])
      )[0];
    expect(await isCanceled()).toEqual({ is: false });
    const [job] = await server.query<{ payload: { gate: string; keep: number } }>(
      `SELECT payload FROM graphile_worker._private_jobs WHERE payload ->> 'gate' = $1`,
      [gate],
    );
    await replicas[1]!.changeGate(job!.payload);
    expect(await isCanceled()).toEqual({ is: true });
  });

  it('cost a run of another workflow nothing at its end: no row, and no job', async () => {
    const run = await created();
    await end(run);
    expect([await isHeld(run), await jobsOf(run)]).toEqual([undefined, []]);
  });

  it('take a bounded number of waiting runs', async () => {
    expect(await request(await created(), { limit: 1 })).toBe('held');
    const waiting = await created();
    expect(await request(waiting, { limit: 1 })).toBe('next');
    await server.query(
      `WITH made AS (
         INSERT INTO task (task_id, context_id, tenant, owner, agent, state, last_sequence, created_at, updated_at)
         SELECT 'crowd-' || n, 'c', '', '', 'workflows/w', 'TASK_STATE_SUBMITTED', 1, now(), now()
         FROM generate_series(1, 9999) AS n RETURNING task_id)
       INSERT INTO run_slot (task_id, gate, key, most)
       SELECT made.task_id, run_slot.gate, '', 1 FROM made, run_slot WHERE run_slot.task_id = $1`,
      [waiting.taskId],
    );
    const late = await created();
    expect(await request(late, { limit: 1 })).toBe('crowded');
    expect(await isHeld(late)).toBeUndefined();
  });
});
