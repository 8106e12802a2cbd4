import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { AttackOrder } from '../attacks/attackers.ts';
import { ATTACKS, type AttackName } from '../attacks/index.ts';
import type { Bench, Row } from '../comparison.ts';
import type { LoadResult } from '../load/closed-loop.ts';
import { residentBytes } from '../measure/processes.ts';
import { type BenchServer, startParley } from '../servers/bench-server.ts';
import { imageAllocator } from '../servers/image-allocator.ts';
import { A2A_HEADERS, rpc, userMessage } from './a2a-requests.ts';
import { ECHO, ECHO_PATH, saveWorkflow } from './parley-workflows.ts';

const HEAP_MIB = 512;
const CONNECTIONS = 4;
/** Number of Messages of the other caller per second. */
const RATE = 40;
const WARM_UP_S = 5;
const QUIET_S = 10;
/** Milliseconds after which V8 has released unused memory. */
const REST_MS = 30_000;
const MEMORY_LOOK_MS = 100;
const MEBIBYTE = 1024 ** 2;

/**
 * Limits of the latency of another caller's Messages during an attack, in milliseconds, and of the memory that remains,
 * in MiB.
 */
const GOAL = { p50: 50, p99: 1_000, grown: 50 };

const KEYS = { attacker: 'a-key-of-the-attacker', other: 'a-key-of-the-other-caller' };
const credentials = (key: string): { authorization: string } => ({ authorization: `Bearer ${key}` });

interface Attacked {
  served: LoadResult;
  /** Peak memory in bytes. */
  peak: number;
}

/**
 * Measures attacks of one caller, each alone and then all together, on a heap of 512 MiB with the allocator of the
 * image: the latency of another caller's Messages, and the service's memory. Each attack gets a new service. A service
 * that ends fails the case.
 */
export async function attacksCase(bench: Bench): Promise<Row[]> {
  const names = Object.keys(ATTACKS) as AttackName[];
  const allocator = await imageAllocator(bench.note);
  const rows: (string | number)[][] = [];
  const asked = bench.options.attacks.map((name) => (name === 'together' ? names : [name]));
  for (const attack of asked.length > 0 ? asked : [...names.map((name) => [name]), names]) {
    const title = attack.length > 1 ? 'all together' : attack[0]!;
    const row = await attacked(bench, title, attack, allocator).catch((error: Error) => {
      bench.note(`${title}: ${error.message.replace(/\s+/g, ' ').slice(0, 300)}`);
      return [title, ...Array.from({ length: 6 }, () => '-'), 'no'];
    });
    rows.push(row);
  }
  bench.table({
    title: `Attacks of one caller on a heap of ${HEAP_MIB} MiB: ${RATE} Messages a second of another one`,
    header: [
      'attack',
      'p50 ms before',
      'p50 ms',
      'p99 ms',
      'longest ms',
      'most RSS MiB',
      'RSS at rest, MiB above before',
      `p50 < ${GOAL.p50}, p99 < ${GOAL.p99}, RSS ≤ ${GOAL.grown}`,
    ],
    rows,
  });
  return [];
}

async function attacked(
  bench: Bench,
  title: string,
  begin: AttackName[],
  allocator: Record<string, string>,
): Promise<(string | number)[]> {
  const server = await startService(bench, allocator);
  const attackers = fork(join(import.meta.dirname, '../attacks/attackers.ts'));
  try {
    await messages(bench, server, WARM_UP_S);
    const quiet = await messages(bench, server, QUIET_S);
    const before = residentBytes(server.pid);
    const target = { url: server.url, grpc: await grpcAddress(server), headers: credentials(KEYS.attacker) };
    await order(attackers, { begin, target });
    const { served, peak } = await meanwhile(server, () => messages(bench, server, attackSeconds(bench, begin)));
    await order(attackers, 'end');
    await delay(bench.options.quick ? REST_MS / 2 : REST_MS);
    if (!server.running()) throw new Error('the service has ended');
    const grown = (residentBytes(server.pid) - before) / MEBIBYTE;
    const figures = [quiet.p50, served.p50, served.p99, served.max].map((ms) => ms.toFixed(1));
    const isMet = served.p50 < GOAL.p50 && served.p99 < GOAL.p99 && grown <= GOAL.grown;
    const row = [title, ...figures, (peak / MEBIBYTE).toFixed(0), grown.toFixed(0), isMet ? 'yes' : 'no'];
    bench.progress(`attack: ${row.join(' · ')}`);
    return row;
  } finally {
    attackers.kill('SIGKILL');
    // A profile is written by a process that ends by itself.
    await server.stop(process.env['PROFILE_DIR'] === undefined ? 'SIGKILL' : 'SIGTERM');
  }
}

const attackSeconds = ({ options }: Bench, { length }: AttackName[]): number =>
  (options.quick ? 5 : 20) * (length > 1 ? 3 : 1);

async function startService(bench: Bench, allocator: Record<string, string>): Promise<BenchServer> {
  const server = await bench.using(
    startParley(await bench.postgres.database(`attacks_${crypto.randomUUID().slice(0, 8)}`), {
      ...allocator,
      AUTH_MODE: 'api-key',
      AUTH_API_KEYS: `attacker:${KEYS.attacker},other:${KEYS.other}`,
      OUTBOUND_ALLOW: '127.0.0.0/8',
      GRPC_PORT: '0',
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}`,
      LOG_LEVEL: 'fatal',
      SHUTDOWN_GRACE: '1s',
    }),
  );
  await saveWorkflow(server.url, ECHO, credentials(KEYS.other));
  return server;
}

async function grpcAddress({ url }: BenchServer): Promise<string> {
  const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as {
    supportedInterfaces: { url: string; protocolBinding: string }[];
  };
  const grpc = card.supportedInterfaces.find(({ protocolBinding }) => protocolBinding === 'GRPC');
  if (!grpc) throw new Error('The service has no gRPC interface');
  return `http://${grpc.url}`;
}

function messages(bench: Bench, { url }: BenchServer, seconds: number): Promise<LoadResult> {
  const call = rpc(ECHO_PATH, 'SendMessage', userMessage(), 'TASK_STATE_COMPLETED');
  const template = { ...call, headers: { ...A2A_HEADERS, ...credentials(KEYS.other) } };
  return bench.load.load({ url, connections: CONNECTIONS, seconds, template, rate: RATE });
}

async function meanwhile(server: BenchServer, work: () => Promise<LoadResult>): Promise<Attacked> {
  let peak = 0;
  const look = setInterval(() => (peak = Math.max(peak, residentBytes(server.pid))), MEMORY_LOOK_MS);
  try {
    return { served: await work(), peak };
  } finally {
    clearInterval(look);
  }
}

async function order(attackers: ChildProcess, told: AttackOrder): Promise<void> {
  attackers.send(told);
  await once(attackers, 'message');
}
