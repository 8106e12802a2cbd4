import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Bench, Row } from '../comparison.ts';
import { summary } from '../load/closed-loop.ts';
import { type BenchServer, startParley, startPeer } from '../servers/bench-server.ts';
import { measureMassTakeover } from './mass-takeover.ts';
import { saveWorkflow } from './parley-workflows.ts';

/** Number of nodes of a run: enough for a kill in the middle, and for the continuation. */
const NODES = 200;
const NODE_MS = 10;
const KILLED_AFTER_MS = 500;
/**
 * Factor of kills: killing a replica takes little time in comparison with the start of the next one, which is not
 * measured.
 */
const TIMES_AS_MANY = 2;
const LOCK_KEY = 7;

/**
 * Measures how long a run is interrupted when its replica is killed, how long it takes to detect a death, and how long
 * 4,000 Tasks of one replica are interrupted.
 */
export async function takeoverCase(bench: Bench): Promise<Row[]> {
  const url = await bench.postgres.database('parley');
  const database = new pg.Pool({ connectionString: url });
  try {
    const kills = bench.options.kills * TIMES_AS_MANY;
    const { claimed, wentOn } = await killedOwners(bench, url, database, kills);
    const floor = await lostLocks(bench, url, database, kills);
    bench.table({
      title: `kill -9 of the replica that executes a run, ${kills} times`,
      header: ['until', 'p50 ms', 'longest ms'],
      rows: [
        ['another replica has claimed the run', ...figures(claimed)],
        ['an event of the run is durable again', ...figures(wentOn)],
        ['floor: a session that waits for the lock has it, and one UPDATE is durable', ...figures(floor)],
      ],
    });
    bench.fact('takeover', summary(wentOn, 1));
    bench.fact('takeoverFloor', summary(floor, 1));
  } finally {
    await database.end();
  }
  await measureMassTakeover(bench);
  return [];
}

async function killedOwners(bench: Bench, url: string, database: pg.Pool, kills: number) {
  const start = (): Promise<BenchServer> => bench.using(startParley(url, { LOG_LEVEL: 'silent' }));
  let [owner, heir] = [await start(), await start()];
  const script = { rules: [], otherwise: [{ sleep: NODE_MS }, { complete: true }] };
  const ids = Array.from({ length: NODES }, (_, index) => `n${index}`);
  const nodes = ids.map((id) => ({ id, type: 'script', config: { script } }));
  const edges = ids.slice(1).map((to, index) => ({ from: ids[index]!, to }));
  await saveWorkflow(owner.url, { name: 'slow', nodes, edges });
  const [claimed, wentOn]: [number[], number[]] = [[], []];
  await settled(database);
  for (let kill = 0; kill < kills; kill += 1) {
    const runId = await startRun(owner);
    await delay(KILLED_AFTER_MS);
    const before = await look(database, runId);
    const from = performance.now();
    await owner.stop('SIGKILL');
    const taken = await changed(database, runId, ({ replica }) => replica !== before.replica);
    claimed.push(performance.now() - from);
    await changed(database, runId, ({ sequence }) => sequence > taken.sequence);
    wentOn.push(performance.now() - from);
    [owner, heir] = [heir, await start()];
  }
  await Promise.all([owner.stop(), heir.stop()]);
  return { claimed, wentOn };
}

/**
 * Waits for three seconds after the start of a server, in which replicas do not judge others, since that start has
 * released all locks.
 */
async function settled(database: pg.Pool): Promise<void> {
  const isSettled = `SELECT pg_postmaster_start_time() < now() - interval '5 seconds' AS settled`;
  while (!(await database.query<{ settled: boolean }>(isSettled)).rows[0]?.settled) await delay(100);
}

async function startRun({ url }: BenchServer): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/api/workflows/slow/runs`, { method: 'POST', headers, body: '{"inputs":{}}' });
  if (answer.status !== 202) throw new Error(`A run was not started: ${await answer.text()}`);
  return ((await answer.json()) as { runId: string }).runId;
}

interface Standing {
  replica: string | null;
  sequence: number;
}

async function look(database: pg.Pool, runId: string): Promise<Standing> {
  const text = 'SELECT replica_id AS replica, last_sequence AS sequence FROM task WHERE task_id = $1';
  const { rows } = await database.query<Standing>({ name: 'look', text, values: [runId] });
  return rows[0]!;
}

async function changed(database: pg.Pool, runId: string, reached: (now: Standing) => boolean): Promise<Standing> {
  for (;;) {
    const now = await look(database, runId);
    if (reached(now)) return now;
    await delay(5);
  }
}

/**
 * Measures a lower bound for any way to detect a death: PostgreSQL notices the end of a session, and a claim is
 * committed.
 */
async function lostLocks(bench: Bench, url: string, database: pg.Pool, kills: number): Promise<number[]> {
  await database.query('CREATE TABLE floor_claim (id integer PRIMARY KEY, holder integer)');
  await database.query('INSERT INTO floor_claim VALUES (1, 0)');
  const waiter = new pg.Client({ connectionString: url });
  await waiter.connect();
  const times: number[] = [];
  try {
    for (let kill = 1; kill <= kills; kill += 1) {
      const holder = await bench.using(startPeer('lock-holder.ts', { DATABASE_URL: url, LOCK_KEY: String(LOCK_KEY) }));
      const free = waiter.query('SELECT pg_advisory_lock($1)', [LOCK_KEY]);
      const from = performance.now();
      await Promise.all([free, holder.stop('SIGKILL')]);
      await waiter.query('UPDATE floor_claim SET holder = $1 WHERE id = 1', [kill]);
      times.push(performance.now() - from);
      await waiter.query('SELECT pg_advisory_unlock($1)', [LOCK_KEY]);
    }
  } finally {
    await waiter.end();
  }
  return times;
}

function figures(milliseconds: number[]): number[] {
  const { p50, max } = summary(milliseconds, 1);
  return [p50, max];
}
