import { createHash } from 'node:crypto';
import { type AppliedLimit, KnownLimits, type SlotOutcome } from '#libs/limits';
import type { Database } from '#libs/postgres';
import { PostgresTaskStore } from '#libs/tasks';
import { PostgresRunSlots, RunDeck, WORKFLOW_MIGRATIONS } from '#libs/workflows';
import type { TestDatabase } from '../support/postgres.js';
import { openTaskDatabase } from './task-database.js';
import { newDraft } from './task-draft.js';

type Draft = ReturnType<typeof newDraft>;
type Values = Record<string, number | string | null>;

let server: TestDatabase;
let database: Database;
let store: PostgresTaskStore;
let slots: PostgresRunSlots;
let limit: AppliedLimit;
let number = 0;

beforeAll(async () => {
  ({ server, database } = await openTaskDatabase(WORKFLOW_MIGRATIONS));
  store = new PostgresTaskStore(database);
  slots = new PostgresRunSlots(database, new RunDeck(database), new KnownLimits(database));
});

afterAll(async () => {
  await database?.close();
  await server?.drop();
});

/** Stores a limit under a new name, which the requests of the test use. */
async function storeLimit(values: Values): Promise<void> {
  number += 1;
  const name = `limit-${number}`;
  const columns = Object.keys(values);
  await server.query(
    `INSERT INTO flow_limit (tenant, name, target, ${columns.join(', ')})
     VALUES ('', $1, 'workflows/*', ${columns.map((_, index) => `$${index + 2}`).join(', ')})`,
    [name, ...Object.values(values)],
  );
  const gate = createHash('sha256').update(name).digest('hex');
  const { concurrency } = values;
  const slots = typeof concurrency === 'number' ? { concurrency } : {};
  limit = { tenant: '', name, gate, value: '', ...slots, isPaced: false, isOfOne: true };
}

async function created(options: Parameters<typeof newDraft>[0] = {}): Promise<Draft> {
  const draft = newDraft(options);
  await store.writeBatch([draft.created()]);
  return draft;
}

function request({ taskId, token }: Draft, more: object = {}): Promise<SlotOutcome> {
  const call = { scope: { tenant: '', owner: '' } };
  return slots.requestSlot({ taskId, token, call }, { limit, ...more });
}

const setState = (draft: Draft, state: string) =>
  server.query('UPDATE task SET state = $2 WHERE task_id = $1', [draft.taskId, state]);
const end = (draft: Draft) => setState(draft, 'TASK_STATE_COMPLETED');

const isHeld = async (draft: Draft): Promise<boolean | undefined> =>
  (await server.query<{ is_held: boolean }>('SELECT is_held FROM run_slot WHERE task_id = $1', [draft.taskId]))[0]
    ?.is_held;

async function held(drafts: readonly Draft[]): Promise<(boolean | undefined)[]> {
  const all: (boolean | undefined)[] = [];
  for (const draft of drafts) all.push(await isHeld(draft));
  return all;
}

const change = (values: string) => server.query(`UPDATE flow_limit SET ${values} WHERE name = $1`, [limit.name]);

/** Admits what the gate may admit now. @returns milliseconds until it may admit more */
const pace = async (): Promise<number | null | undefined> =>
  (await server.query<{ ms: number | null }>('SELECT pace_gate($1) AS ms', [limit.gate]))[0]?.ms;

/** Moves the times of the gate into the past, as if so many milliseconds had passed. */
const pass = (ms: number) =>
  server.query(
    `UPDATE flow_gate SET tat = tat - $2::float8 * interval '1 ms', closed_until = closed_until - $2::float8 * interval '1 ms'
     WHERE gate = $1`,
    [limit.gate, ms],
  );

const queuedJobs = async (): Promise<string[]> =>
  (
    await server.query<{ key: string }>('SELECT key FROM graphile_worker._private_jobs WHERE key LIKE $1', [
      `runs.free-slot/%${limit.gate}`,
    ])
  ).map(({ key }) => key.replace(limit.gate, ''));

const HOUR_MS = 3_600_000;

describe('The gate of a limit', () => {
  it('has the slots that the limit has now, not those of the request', async () => {
    await storeLimit({ concurrency: 1 });
    const runs = [await created(), await created(), await created()];
    expect(await request(runs[0]!)).toBe('held');
    for (const run of runs.slice(1)) await request(run);
    await change('concurrency = 2');
    expect(await queuedJobs()).toEqual(['runs.free-slot/']);
    await slots.changeGate({ gate: limit.gate });
    expect(await held(runs)).toEqual([true, true, false]);
    await change('concurrency = 0');
    await end(runs[0]!);
    await end(runs[1]!);
    expect(await held(runs)).toEqual([undefined, undefined, false]);
  });

  it('lets everything through once the limit is deleted', async () => {
    await storeLimit({ concurrency: 0 });
    const runs = [await created(), await created()];
    for (const run of runs) expect(await request(run)).toMatch(/next|parked/);
    await server.query('DELETE FROM flow_limit WHERE name = $1', [limit.name]);
    await slots.changeGate({ gate: limit.gate });
    expect(await held(runs)).toEqual([true, true]);
    expect(await request(await created())).toBe('held');
  });

  it('admits one start in each interval of a rate, by the clock of the database', async () => {
    await storeLimit({ rate_count: 1, rate_period: '1h', rate_burst: 1, rate_ms: HOUR_MS });
    const runs = [await created(), await created(), await created()];
    expect(await request(runs[0]!)).toBe('held');
    for (const run of runs.slice(1)) await request(run);
    expect(await held(runs)).toEqual([true, false, false]);
    expect(await queuedJobs()).toEqual(['runs.free-slot/pace/']);
    await end(runs[0]!);
    expect(await held(runs)).toEqual([undefined, false, false]);
    await pass(HOUR_MS - 60_000);
    expect(await pace()).toBeGreaterThan(0);
    expect(await held(runs)).toEqual([undefined, false, false]);
    await pass(60_000);
    expect(await pace()).toBeGreaterThan(HOUR_MS - 60_000);
    expect(await held(runs)).toEqual([undefined, true, false]);
  });

  it('admits the burst of a rate after a pause, however long the pause was, and no more', async () => {
    await storeLimit({ rate_count: 1, rate_period: '1h', rate_burst: 2, rate_ms: HOUR_MS });
    const runs = await Promise.all(Array.from({ length: 5 }, () => created()));
    for (const run of runs) await request(run);
    expect((await held(runs)).filter(Boolean)).toHaveLength(2);
    await pass(100 * HOUR_MS);
    await pace();
    expect((await held(runs)).filter(Boolean)).toHaveLength(4);
  });

  it('counts a start once, however often its run requests the slot', async () => {
    await storeLimit({ rate_count: 1, rate_period: '1h', rate_burst: 2, rate_ms: HOUR_MS });
    const [first, second] = [await created(), await created()];
    for (let n = 0; n < 3; n += 1) expect(await request(first)).toBe('held');
    expect(await request(second)).toBe('held');
  });

  it('is closed for the pause that an agent asks for, and opens by a job', async () => {
    await storeLimit({ concurrency: 5 });
    const [first, second] = [await created(), await created()];
    expect(await request(first)).toBe('held');
    await slots.closeGate(limit, 60_000);
    expect(await request(second)).not.toBe('held');
    expect(await queuedJobs()).toEqual(['runs.free-slot/pace/']);
    await end(first);
    expect(await isHeld(second)).toBe(false);
    await pass(60_000);
    await slots.changeGate({ gate: limit.gate });
    expect(await isHeld(second)).toBe(true);
  });

  it('wakes no run while its concurrency is zero', async () => {
    await storeLimit({ concurrency: 0 });
    const runs = [await created(), await created()];
    for (const run of runs) expect(await request(run)).toBe('parked');
    await slots.changeGate({ gate: limit.gate });
    const woken = await server.query('SELECT task_id FROM task WHERE task_id = ANY($1) AND wake_at <= now()', [
      runs.map(({ taskId }) => taskId),
    ]);
    expect(woken).toEqual([]);
  });

  it('gives a turn that is under way a slot beyond the limit', async () => {
    await storeLimit({ concurrency: 1 });
    const [first, second] = [await created(), await created()];
    await request(first);
    expect(await request(second, { isUnderWay: true })).toBe('held');
  });

  it('passes the slot of a turn on while its Task waits for an answer, and that of a run not', async () => {
    for (const [agent, waits] of [
      ['agents/helper', [undefined, true]],
      ['workflows/w', [true, false]],
    ] as const) {
      await storeLimit({ concurrency: 1 });
      const [first, second] = [await created({ agent }), await created({ agent })];
      await request(first);
      await request(second);
      await setState(first, 'TASK_STATE_INPUT_REQUIRED');
      expect([agent, ...(await held([first, second]))]).toEqual([agent, ...waits]);
    }
  });

  it('is deleted when nothing has used it for an hour and it limits nothing any more', async () => {
    const gates = async (): Promise<number> =>
      (await server.query('SELECT FROM flow_gate WHERE gate = $1', [limit.gate])).length;
    const sweep = () => slots.sweepSlots(new AbortController().signal);
    await storeLimit({ rate_count: 1, rate_period: '1h', rate_burst: 1, rate_ms: 3 * HOUR_MS });
    const run = await created();
    await request(run);
    await end(run);
    await sweep();
    expect(await gates()).toBe(1);
    await server.query(`UPDATE flow_gate SET used_at = now() - interval '2 hours' WHERE gate = $1`, [limit.gate]);
    await sweep();
    // The next start may only be in three hours.
    expect(await gates()).toBe(1);
    await pass(3 * HOUR_MS);
    await sweep();
    expect(await gates()).toBe(0);
  });
});
