import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Bench } from '../comparison.ts';
import { type BenchServer, startParley } from '../servers/bench-server.ts';
import { saveWorkflow, startRuns } from './parley-workflows.ts';

const RUNS = 2_000;
/** Number of Tasks: each run has one child Task, that of its only node. */
const TASKS = 2 * RUNS;
/** Milliseconds that a node sleeps, so that no run ends before the measurement does. */
const NODE_MS = 600_000;
/** Milliseconds between two checks, since each check affects the measurement. */
const LOOK_MS = 100;

/** Measures how long the many Tasks of a dead replica are interrupted, until another replica executes all of them. */
export async function measureMassTakeover(bench: Bench): Promise<void> {
  const url = await bench.postgres.database('parley');
  const database = new pg.Pool({ connectionString: url, max: 1 });
  try {
    const owner = await bench.using(startParley(url, { LOG_LEVEL: 'silent' }));
    const script = { rules: [], otherwise: [{ sleep: NODE_MS }, { complete: true }] };
    await saveWorkflow(owner.url, {
      name: 'slow',
      nodes: [{ id: 'only', type: 'script', config: { script } }],
      edges: [],
    });
    bench.progress(`${RUNS} runs begin …`);
    await startRuns(owner.url, 'slow', RUNS);
    const heir = await bench.using(startParley(url, { LOG_LEVEL: 'silent' }));
    await until(async () => (await claimedTasks(database)) === TASKS && (await executions(owner)) === TASKS);
    const from = performance.now();
    await owner.stop('SIGKILL');
    await until(async () => (await executions(heir)) > 0);
    const first = performance.now() - from;
    await until(async () => (await executions(heir)) === TASKS);
    const all = performance.now() - from;
    await heir.stop('SIGKILL');
    bench.table({
      title: `kill -9 of a replica with ${TASKS} Tasks`,
      header: ['until', 'ms'],
      rows: [
        ['the first is at work in another replica', first],
        ['all are', all],
      ],
    });
    bench.fact('massTakeover', { first, all });
  } finally {
    await database.end();
  }
}

async function claimedTasks(database: pg.Pool): Promise<number> {
  const { rows } = await database.query<{ n: number }>(
    'SELECT count(*)::int AS n FROM task WHERE replica_id IS NOT NULL',
  );
  return rows[0]!.n;
}

/** Returns the number of Tasks that a replica executes by its own metrics. */
async function executions({ url }: BenchServer): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(/^parley_executions (\d+)/m.exec(metrics)?.[1] ?? 0);
}

async function until(reached: () => Promise<boolean>): Promise<void> {
  while (!(await reached())) await delay(LOOK_MS);
}
