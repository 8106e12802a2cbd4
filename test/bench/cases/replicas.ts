import type { Bench, Row } from '../comparison.ts';
import type { LoadResult } from '../load/closed-loop.ts';
import { median } from '../measure/measurement.ts';
import { cpuMicroseconds, familyCpuMicroseconds } from '../measure/processes.ts';
import { type BenchServer, startParley } from '../servers/bench-server.ts';
import { rpc, userMessage } from './a2a-requests.ts';
import { ECHO, ECHO_PATH, saveWorkflow } from './parley-workflows.ts';

const REPLICAS = [1, 2, 4];
/** Of all replicas together, so that each number of them does the same work. */
const CONNECTIONS = 32;
/** What a machine that is full cannot do, so that replicas do not wait for a core. */
const SHARE = 0.4;

interface Cost {
  node: number;
  postgres: number;
  walBytes: number;
}

/** What a Message costs where several replicas share a database, at one rate that leaves the machine room. */
export async function replicasCase(bench: Bench): Promise<Row[]> {
  const { rounds, seconds } = bench.options;
  const url = await bench.postgres.database('parley');
  const servers: BenchServer[] = [];
  for (let started = 0; started < Math.max(...REPLICAS); started += 1)
    servers.push(await bench.using(startParley(url)));
  await saveWorkflow(servers[0]!.url, ECHO);
  for (const server of servers) await load(bench, [server], 2);
  const most = await load(bench, servers.slice(0, 1), seconds);
  const rate = (most.requests / most.seconds) * SHARE;
  const costs = new Map<number, Cost[]>(REPLICAS.map((replicas) => [replicas, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const replicas of REPLICAS) {
      costs.get(replicas)?.push(await costOf(bench, servers.slice(0, replicas), servers, seconds, rate));
    }
  }
  const rows = [...costs].map(([replicas, of]) => {
    const each = (key: keyof Cost): number => median(of.map((cost) => cost[key]));
    return [String(replicas), each('node'), each('postgres'), each('node') + each('postgres'), each('walBytes')];
  });
  bench.table({
    title: `Replicas that share the load of ${Math.round(rate)} Messages a second (${servers.length} are up)`,
    header: ['replicas', 'Node µs/Message', 'PostgreSQL µs/Message', 'together', 'WAL B/Message'],
    rows,
  });
  return [];
}

/** The CPU of all replicas counts, also of those that only hear what the others do. */
async function costOf(
  bench: Bench,
  loaded: BenchServer[],
  all: BenchServer[],
  seconds: number,
  rate: number,
): Promise<Cost> {
  const { postgres } = bench;
  const node = (): number => all.reduce((sum, { pid }) => sum + cpuMicroseconds(pid), 0);
  const before = { node: node(), postgres: familyCpuMicroseconds(postgres.pid), ...(await postgres.counters()) };
  const { requests } = await load(bench, loaded, seconds, rate);
  const after = { node: node(), postgres: familyCpuMicroseconds(postgres.pid), ...(await postgres.counters()) };
  return {
    node: (after.node - before.node) / requests,
    postgres: (after.postgres - before.postgres) / requests,
    walBytes: (after.walBytes - before.walBytes) / requests,
  };
}

function load(bench: Bench, servers: BenchServer[], seconds: number, rate?: number): Promise<LoadResult> {
  const template = rpc(ECHO_PATH, 'SendMessage', userMessage(), 'TASK_STATE_COMPLETED');
  const urls = servers.map(({ url }) => url);
  return bench.load.load({ url: urls[0]!, urls, connections: CONNECTIONS, seconds, template, rate });
}
