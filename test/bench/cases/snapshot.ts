import pg from 'pg';
import type { Bench, Row } from '../comparison.ts';
import { startMeter } from '../measure/meter.ts';
import { type BenchServer, startParley } from '../servers/bench-server.ts';
import { rpc, userMessage } from './a2a-requests.ts';
import { ECHO, ECHO_PATH, saveWorkflow } from './parley-workflows.ts';

const CONNECTIONS = 16;
const WARM_UP_S = 10;
/** Seconds of one row of the table. */
const WINDOW_S = 15;

interface Window {
  rate: number;
  p50: number;
  p99: number;
  postgresCpu: number;
}

/**
 * Measures Messages while a transaction holds a snapshot, as a backup or a forgotten transaction does, for the duration
 * of `--minutes`, with one and with two replicas, or with the numbers in `--replicas`. Dead rows then remain, and
 * nothing may become slower with each commit.
 */
export async function snapshotCase(bench: Bench): Promise<Row[]> {
  const all: Awaited<ReturnType<typeof heldSnapshot>>[] = [];
  for (const replicas of bench.options.heldReplicas) all.push(await heldSnapshot(bench, replicas));
  const [throughput, p99] = [Math.min(...all.map((it) => it.throughput)), Math.max(...all.map((it) => it.p99))];
  bench.fact('heldSnapshot', { throughput, p99 });
  return [];
}

/** Measures Messages with a held snapshot. @returns the last measurements in relation to those before */
async function heldSnapshot(bench: Bench, replicas: number): Promise<{ throughput: number; p99: number }> {
  const url = await bench.postgres.database('parley');
  const servers: BenchServer[] = [];
  while (servers.length < replicas) servers.push(await bench.using(startParley(url)));
  await saveWorkflow(servers[0]!.url, ECHO);
  await load(bench, servers, WARM_UP_S);
  const free = await measure(bench, servers, 'free');
  const holder = await holdSnapshot(url);
  const held: Window[] = [];
  try {
    const windows = Math.max(1, Math.round((bench.options.heldMinutes * 60) / WINDOW_S));
    while (held.length < windows) held.push(await measure(bench, servers, `held, ${(held.length + 1) * WINDOW_S} s`));
  } finally {
    await holder.end();
  }
  const released = await measure(bench, servers, 'released');
  report(bench, replicas, free, held, released);
  for (const server of servers) await server.stop();
  const last = held.at(-1)!;
  return { throughput: last.rate / free.rate, p99: last.p99 / free.p99 };
}

/** Opens a transaction with a snapshot: it has read something, and stays idle. */
async function holdSnapshot(url: string): Promise<pg.Client> {
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  await holder.query('SELECT count(*) FROM task');
  return holder;
}

async function measure(bench: Bench, servers: BenchServer[], name: string): Promise<Window> {
  const stop = await startMeter(servers[0]!.pid, bench.postgres);
  const { requests, seconds, p50, p99 } = await load(bench, servers, WINDOW_S);
  const { postgresCpu = 0 } = await stop();
  const window = { rate: requests / seconds, p50, p99, postgresCpu: postgresCpu / requests };
  bench.progress(
    `snapshot, ${servers.length} replicas, ${name}: ${Math.round(window.rate)}/s, p99 ${p99.toFixed(1)} ms`,
  );
  return window;
}

function load(bench: Bench, servers: BenchServer[], seconds: number) {
  const template = rpc(ECHO_PATH, 'SendMessage', userMessage(), 'TASK_STATE_COMPLETED');
  const urls = servers.map(({ url }) => url);
  return bench.load.load({ url: urls[0]!, urls, connections: CONNECTIONS, seconds, template });
}

function report(bench: Bench, replicas: number, free: Window, held: readonly Window[], released: Window): void {
  const row = (name: string, { rate, p50, p99, postgresCpu }: Window) => [name, rate, p50, p99, postgresCpu];
  bench.table({
    title: `A held snapshot, replicas: ${replicas}`,
    header: ['', 'Messages/s', 'p50 ms', 'p99 ms', 'PostgreSQL µs/Message'],
    rows: [
      row('free', free),
      ...held.map((window, index) => row(`held, ${(index + 1) * WINDOW_S} s`, window)),
      row('released', released),
    ],
  });
}
