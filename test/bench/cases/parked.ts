import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Bench, Row } from '../comparison.ts';
import { cpuMicroseconds, residentBytes } from '../measure/processes.ts';
import { type BenchServer, startParley } from '../servers/bench-server.ts';
import { saveWorkflow, startRuns } from './parley-workflows.ts';

const SETTLE_MS = 10_000;
const WATCHED_MS = 30_000;
/** Milliseconds of a wait that exceed the time after which a run is parked, so that all runs are parked. */
const NAP_MS = 45_000;
const NAPPING = 1_000;
const MIB = 1024 ** 2;

interface Idle {
  mib: number;
  commitsPerSecond: number;
  cpu: number;
}

/**
 * Measures the cost of waiting runs for a replica: memory, commits and CPU time while nothing happens, and the time to
 * wake all at once.
 */
export async function parkedCase(bench: Bench): Promise<Row[]> {
  const { parkedRuns } = bench.options;
  const url = await bench.postgres.database('parley');
  const database = new pg.Pool({ connectionString: url, max: 1 });
  try {
    const server = await bench.using(startParley(url));
    await saveWorkflow(server.url, sleeping('blink', '1ms'));
    await saveWorkflow(server.url, sleeping('sleep', '365d'));
    await saveWorkflow(server.url, sleeping('nap', `${NAP_MS}ms`));
    await startRuns(server.url, 'blink', parkedRuns);
    await until(async () => (await count(database, LEFT)) === 0);
    const before = await watch(bench, server);
    bench.progress(`${parkedRuns} runs begin to wait for a year …`);
    await startRuns(server.url, 'sleep', parkedRuns);
    await until(async () => (await count(database, PARKED)) === parkedRuns);
    const after = await watch(bench, server);
    await server.stop();
    const fresh = await bench.using(startParley(url));
    const beside = await watch(bench, fresh);
    bench.table({
      title: `${parkedRuns} parked runs: a replica with nothing to do`,
      header: ['replica', 'RSS MiB', 'commits/s', 'Node ms/s'],
      rows: [
        ['that had as many short runs', ...figures(before)],
        ['that has parked them since then', ...figures(after)],
        ['that was started beside them', ...figures(beside)],
      ],
    });
    await wakeAll(bench, fresh, database);
  } finally {
    await database.end();
  }
  return [];
}

/** Creates a workflow that waits for some time between two nodes. */
function sleeping(name: string, length: string) {
  const nodes = [
    { id: 'before', type: 'input', config: { optional: true } },
    { id: 'wait', type: 'wait', config: { for: length } },
    { id: 'after', type: 'output' },
  ];
  const edges = [
    { from: 'before', to: 'wait' },
    { from: 'wait', to: 'after' },
  ];
  return { name, nodes, edges };
}

/** Measures an idle replica for half a minute. */
async function watch({ postgres }: Bench, server: BenchServer): Promise<Idle> {
  await delay(SETTLE_MS);
  const [from, cpu] = [await postgres.counters(), cpuMicroseconds(server.pid)];
  await delay(WATCHED_MS);
  const to = await postgres.counters();
  return {
    mib: residentBytes(server.pid) / MIB,
    commitsPerSecond: (to.commits - from.commits) / (WATCHED_MS / 1000),
    cpu: (cpuMicroseconds(server.pid) - cpu) / WATCHED_MS,
  };
}

function figures({ mib, commitsPerSecond, cpu }: Idle): number[] {
  return [mib, commitsPerSecond, cpu];
}

/** Measures how long it takes to wake runs that are due at the same time. */
async function wakeAll(bench: Bench, server: BenchServer, database: pg.Pool): Promise<void> {
  const waiting = await count(database, PARKED);
  await startRuns(server.url, 'nap', NAPPING);
  const begun = performance.now();
  await until(async () => (await count(database, PARKED)) === waiting + NAPPING);
  await delay(NAP_MS - (performance.now() - begun));
  await until(async () => (await count(database, LEFT)) === waiting);
  const last = (performance.now() - begun - NAP_MS) / 1000;
  bench.note(`${NAPPING} parked runs whose time came together had all ended ${last.toFixed(1)} s later.`);
}

async function until(reached: () => Promise<boolean>): Promise<void> {
  while (!(await reached())) await delay(100);
}

async function count(database: pg.Pool, query: string): Promise<number> {
  const { rows } = await database.query(query);
  return Number(rows[0].n);
}

const PARKED = 'SELECT count(*) AS n FROM task WHERE wake_at IS NOT NULL AND replica_id IS NULL';
const LEFT = `
  SELECT count(*) AS n FROM task
  WHERE state NOT IN ('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')`;
