import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Bench } from '../comparison.ts';
import { residentBytes } from '../measure/processes.ts';
import { type BenchServer, startParley } from '../servers/bench-server.ts';
import { graphOf } from '../servers/graphs/shape.ts';
import { saveWorkflow } from './parley-workflows.ts';

/** Number of runs, each of which has many executing nodes between a first and a last node. */
const RUNS = 5;
const WIDTH = 998;
/** Milliseconds that a node sleeps: longer than it takes to start and measure all of them. */
const NODE_MS = 20_000;
const SETTLE_MS = 3_000;
const MIB = 1024 ** 2;

/** Measures the memory of an executing node in its replica, including the garbage of its start. */
export async function runningNodes(bench: Bench): Promise<void> {
  const url = await bench.postgres.database('parley');
  const database = new pg.Pool({ connectionString: url, max: 1 });
  try {
    const server = await bench.using(startParley(url));
    await saveWorkflow(server.url, sleepers('brief', 1));
    await saveWorkflow(server.url, sleepers('long', NODE_MS));
    // What the first runs leave behind is no node's.
    await start(server, 'brief', RUNS);
    await until(async () => (await count(database, UNFINISHED)) === 0);
    await delay(SETTLE_MS);
    const before = residentBytes(server.pid);
    await start(server, 'long', RUNS);
    await until(async () => (await count(database, AT_WORK)) === RUNS * WIDTH);
    await delay(SETTLE_MS);
    const full = residentBytes(server.pid);
    const each = (full - before) / 1000 / (RUNS * WIDTH);
    bench.progress(`${RUNS * WIDTH} nodes at work: ${each.toFixed(1)} kB each`);
    bench.table({
      title: `Nodes that are at work at once, in ${RUNS} runs`,
      header: ['nodes at work', 'RSS MiB without', 'RSS MiB', 'kB/node'],
      rows: [[String(RUNS * WIDTH), before / MIB, full / MIB, each]],
    });
    await server.stop('SIGKILL');
  } finally {
    await database.end();
  }
}

/** Creates a workflow whose nodes all sleep in parallel. */
function sleepers(name: string, milliseconds: number) {
  const { nodes, edges } = graphOf('fan', WIDTH);
  const script = { rules: [], otherwise: [{ status: 'working' }, { sleep: milliseconds }, { complete: true }] };
  return { name, nodes: nodes.map((id) => nodeOf(id, script)), edges };
}

function nodeOf(id: string, script: object) {
  const isMiddle = id !== 'first' && id !== 'last';
  return isMiddle ? { id, type: 'script', config: { script } } : { id, type: 'input', config: { optional: true } };
}

async function start({ url }: BenchServer, workflow: string, runs: number): Promise<void> {
  for (let run = 0; run < runs; run += 1) {
    const headers = { 'content-type': 'application/json' };
    const path = `${url}/api/workflows/${workflow}/runs`;
    const answer = await fetch(path, { method: 'POST', headers, body: '{"inputs":{}}' });
    if (answer.status !== 202) throw new Error(`A run was not started: ${await answer.text()}`);
    await answer.text();
  }
}

async function count(database: pg.Pool, query: string): Promise<number> {
  const { rows } = await database.query<{ n: string }>(query);
  return Number(rows[0]?.n);
}

async function until(reached: () => Promise<boolean>): Promise<void> {
  while (!(await reached())) await delay(100);
}

const AT_WORK = `
  SELECT count(*) AS n FROM task WHERE parent_task_id IS NOT NULL AND state = 'TASK_STATE_WORKING'`;
const UNFINISHED = `
  SELECT count(*) AS n FROM task WHERE state IN ('TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING')`;
