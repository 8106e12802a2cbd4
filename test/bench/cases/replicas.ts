import { setTimeout as delay } from 'node:timers/promises';
import type { Bench, Row } from '../comparison.ts';
import type { LoadResult } from '../load/closed-loop.ts';
import { median } from '../measure/measurement.ts';
import { cpuMicroseconds, familyCpuMicroseconds } from '../measure/processes.ts';
import { type BenchServer, startParley } from '../servers/bench-server.ts';
import { rpc, userMessage } from './a2a-requests.ts';
import { ECHO, ECHO_PATH, saveWorkflow } from './parley-workflows.ts';

const REPLICAS = [1, 2, 4];
/** Number of connections to all replicas together, so that any number of replicas does the same work. */
const CONNECTIONS = 32;
/** Fraction of the maximum rate that is used, so that replicas do not wait for a processor. */
const SHARE = 0.4;
const WARM_UP_S = 2;
/** Milliseconds to wait after a start, and to measure an idle replica. */
const SETTLE_MS = 5_000;
const IDLE_MS = 10_000;

/** Microseconds of CPU time, bytes and commits of all replicas and of PostgreSQL. */
interface Used {
  node: number;
  postgres: number;
  walBytes: number;
  commits: number;
}

interface Cost extends Used {
  p99: number;
}

/** Replicas that get the load, and their fraction of it. */
interface Part {
  name: string;
  loaded: BenchServer[];
  share: number;
}

/**
 * Measures the cost of replicas that share a database: of each while nothing happens, and of a Message by the number of
 * replicas.
 */
export async function replicasCase(bench: Bench): Promise<Row[]> {
  const url = await bench.postgres.database('parley');
  const servers: BenchServer[] = [];
  const start = async (count: number): Promise<void> => {
    while (servers.length < count) servers.push(await bench.using(startParley(url)));
    await delay(SETTLE_MS);
  };
  await start(1);
  const [first] = servers as [BenchServer];
  await saveWorkflow(first.url, ECHO);
  await load(bench, [first], WARM_UP_S);
  const most = await load(bench, [first], bench.options.seconds);
  const rate = (most.requests / most.seconds) * SHARE;
  const all = Math.max(...REPLICAS);
  // What is to be compared with all of them: one that has nobody beside it, and no more to do than each of them.
  const alone = [
    { name: '1, alone', loaded: [first], share: 1 },
    { name: `1, alone, 1/${all} of the load`, loaded: [first], share: 1 / all },
  ];
  const costs = await costsOf(bench, servers, rate, alone);
  const idle: (string | number)[][] = [];
  for (const count of REPLICAS) {
    await start(count);
    idle.push(await idleRow(bench, servers));
  }
  for (const server of servers.slice(1)) await load(bench, [server], WARM_UP_S);
  const shared = REPLICAS.map((n) => ({ name: `${n} of ${all}`, loaded: servers.slice(0, n), share: 1 }));
  costs.push(...(await costsOf(bench, servers, rate, shared)));
  bench.table({
    title: 'Replicas with nothing to do',
    header: ['replicas', 'Node ms/s each', 'PostgreSQL ms/s together', 'commits/s together'],
    rows: idle,
  });
  bench.table({ title: `Replicas that share ${Math.round(rate)} Messages a second`, ...costTable(costs) });
  const [, one, ...several] = costs.map(([, { node, postgres }]) => node + postgres);
  bench.fact('costOfFourReplicas', several.at(-1)! / one!);
  return [];
}

async function idleRow(bench: Bench, servers: BenchServer[]): Promise<(string | number)[]> {
  const { node, postgres, commits } = await usedBy(bench, servers, () => delay(IDLE_MS));
  // Microseconds in so many milliseconds.
  return [String(servers.length), node / IDLE_MS / servers.length, postgres / IDLE_MS, (commits * 1000) / IDLE_MS];
}

/** Returns the medians of all rounds, in which the parts take turns. */
async function costsOf(bench: Bench, servers: BenchServer[], rate: number, parts: Part[]): Promise<[string, Cost][]> {
  const rounds = new Map<Part, Cost[]>(parts.map((part) => [part, []]));
  for (let round = 0; round < bench.options.rounds; round += 1) {
    for (const [part, costs] of rounds) costs.push(await costOf(bench, servers, rate, part));
  }
  return [...rounds].map(([{ name }, costs]) => {
    const of = (key: keyof Cost): number => median(costs.map((cost) => cost[key]));
    const [node, postgres, walBytes, commits] = [of('node'), of('postgres'), of('walBytes'), of('commits')];
    return [name, { node, postgres, walBytes, commits, p99: of('p99') }];
  });
}

/**
 * Measures the cost of a Message. The CPU time of all replicas counts, including those that only receive signals of
 * others.
 */
async function costOf(bench: Bench, servers: BenchServer[], rate: number, { loaded, share }: Part): Promise<Cost> {
  let [requests, p99] = [0, 0];
  const { node, postgres, walBytes, commits } = await usedBy(bench, servers, async () => {
    const { seconds } = bench.options;
    ({ requests, p99 } = await load(bench, loaded, seconds, { rate: rate * share, connections: CONNECTIONS * share }));
  });
  return {
    node: node / requests,
    postgres: postgres / requests,
    walBytes: walBytes / requests,
    commits: commits / requests,
    p99,
  };
}

function costTable(costs: readonly [string, Cost][]) {
  const header = ['replicas', 'Node µs/Message', 'PostgreSQL µs/Message', 'together', '× the first'];
  header.push('WAL B/Message', 'commits/Message', 'p99 ms');
  const first = costs[0]![1];
  const rows = costs.map(([name, { node, postgres, walBytes, commits, p99 }]) => {
    const together = node + postgres;
    const times = together / (first.node + first.postgres);
    return [name, node, postgres, together, times, walBytes, commits.toFixed(3), p99];
  });
  return { header, rows };
}

async function usedBy({ postgres }: Bench, servers: BenchServer[], work: () => Promise<void>): Promise<Used> {
  const now = async (): Promise<Used> => ({
    node: servers.reduce((sum, { pid }) => sum + cpuMicroseconds(pid), 0),
    postgres: familyCpuMicroseconds(postgres.pid),
    ...(await postgres.counters()),
  });
  const before = await now();
  await work();
  const after = await now();
  return {
    node: after.node - before.node,
    postgres: after.postgres - before.postgres,
    walBytes: after.walBytes - before.walBytes,
    commits: after.commits - before.commits,
  };
}

function load(
  bench: Bench,
  servers: BenchServer[],
  seconds: number,
  pace: { rate?: number; connections?: number } = {},
): Promise<LoadResult> {
  const template = rpc(ECHO_PATH, 'SendMessage', userMessage(), 'TASK_STATE_COMPLETED');
  const urls = servers.map(({ url }) => url);
  return bench.load.load({ url: urls[0]!, urls, connections: CONNECTIONS, seconds, template, ...pace });
}
