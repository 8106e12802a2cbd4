import { setTimeout as delay } from 'node:timers/promises';
import type { Bench, Row } from '../comparison.ts';
import type { LoadResult } from '../load/closed-loop.ts';
import { median } from '../measure/measurement.ts';
import { cpuMicroseconds, openFilesLimit, residentBytes } from '../measure/processes.ts';
import { type BenchServer, startParley, startPeer } from '../servers/bench-server.ts';
import { A2A_HEADERS, callAgent } from './a2a-requests.ts';
import { saveWorkflow } from './parley-workflows.ts';
import { PARLEY } from './subject-names.ts';

const PATH = '/a2a/workflows/waiting/nodes/waiting';
/** Milliseconds between the measured event and the next one. */
const PAUSE_MS = 1_000;
/** Milliseconds without work after which V8 has released garbage and the memory of the young generation. */
const SETTLE_MS = 12_000;
const SPARE_FILES = 300;
const OPENERS = 100;

/** Server and Task whose streams are opened, and the request that causes an event. */
export interface StreamStage {
  name: string;
  server: BenchServer;
  open: { method?: 'GET' | 'POST'; path: string; body: string; headers?: Record<string, string>; opened?: string };
  /** Number of streams, and of events to them; default: those of the options. */
  count?: number;
  rounds?: number;
  event(number: number): { path: string; body: string; headers?: Record<string, string> };
  /** Resolves when the next event may be caused. */
  ready(): Promise<void>;
}

/** Measures many readers of one Task: the cost of each, and the time until an event has reached all of them. */
export async function streamsCase(bench: Bench): Promise<Row[]> {
  const stages = [await parleyStage(bench), await floorStage(bench)];
  const rows: (string | number)[][] = [];
  for (const stage of stages) rows.push(await measureStreams(bench, stage));
  const [ours, floor] = rows.map((row) => Number(row[2]));
  bench.fact('kilobytesBeyondFloor', ours! - floor!);
  bench.table({
    title: 'Open streams: SubscribeToTask on one Task (delivery from the Message that causes the event to each reader)',
    header: ['subject', 'streams', 'RSS kB/stream', 'p50 ms', 'p99 ms', 'last ms', 'Node µs/delivery'],
    rows,
  });
  return [];
}

/**
 * Measures the streams of a stage. @returns a row: name and number of the streams, memory, delivery times and CPU time
 */
export async function measureStreams(bench: Bench, stage: StreamStage): Promise<(string | number)[]> {
  const { load, options } = bench;
  const { server, name } = stage;
  const room = Math.min(openFilesLimit(server.pid), openFilesLimit(load.pid)) - SPARE_FILES;
  const wanted = stage.count ?? options.openStreams;
  const count = Math.min(wanted, room);
  if (count < wanted) bench.note(`Open streams: only ${count}, since more files may not be open here.`);
  const job = { url: server.url, headers: A2A_HEADERS, opened: '"task"', ...stage.open, openers: OPENERS };
  await load.openStreams({ ...job, count: Math.min(count, 500) });
  await load.closeStreams();
  await delay(SETTLE_MS);
  const before = residentBytes(server.pid);
  await load.openStreams({ ...job, count });
  await delay(SETTLE_MS);
  const perStream = (residentBytes(server.pid) - before) / 1000 / count;
  const rounds: (LoadResult & { cpu: number })[] = [];
  for (let round = 0; round <= (stage.rounds ?? options.rounds); round += 1) {
    const cpu = cpuMicroseconds(server.pid);
    const delivered = await load.deliver(stage.event(round), 'TASK_STATE_WORKING');
    rounds.push({ ...delivered, cpu: (cpuMicroseconds(server.pid) - cpu) / count });
    await stage.ready();
  }
  await load.closeStreams();
  // The first event warms up.
  const of = (key: 'p50' | 'p99' | 'max' | 'cpu'): number => median(rounds.slice(1).map((round) => round[key]));
  bench.progress(`${name}: ${count} streams, ${perStream.toFixed(1)} kB each, p99 ${of('p99').toFixed(0)} ms`);
  return [name, count, perStream, of('p50'), of('p99'), of('max'), of('cpu')];
}

/**
 * Creates a stage at Parley whose streams follow one Task. Its agent asks for input at every turn, so that the first
 * event of a turn comes alone.
 */
export async function parleyStage(bench: Bench): Promise<StreamStage> {
  const server = await bench.using(startParley(await bench.postgres.database('parley')));
  const script = {
    rules: [{ when: { turn: 1 }, steps: [{ ask: 'more?' }] }],
    otherwise: [{ sleep: PAUSE_MS }, { ask: 'more?' }],
  };
  const nodes = [{ id: 'waiting', type: 'script', config: { script } }];
  await saveWorkflow(server.url, { name: 'waiting', nodes, edges: [] });
  const message = (number: number): object => ({ messageId: `m${number}`, role: 'ROLE_USER', parts: [{ text: 'go' }] });
  const url = `${server.url}${PATH}`;
  const { task } = await callAgent<{ task: { id: string } }>(url, 'SendMessage', { message: message(0) });
  const body = (method: string, params: object): string => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return {
    name: PARLEY,
    server,
    open: { path: PATH, body: body('SubscribeToTask', { id: task.id }) },
    event: (number) => ({
      path: PATH,
      body: body('SendMessage', { message: { ...message(number + 1), taskId: task.id } }),
    }),
    ready: async () => {
      for (let state = ''; state !== 'TASK_STATE_INPUT_REQUIRED'; await delay(100)) {
        const found = await callAgent<{ status: { state: string } }>(url, 'GetTask', { id: task.id });
        ({ state } = found.status);
      }
    },
  };
}

async function floorStage(bench: Bench): Promise<StreamStage> {
  const server = await bench.using(startPeer('node-streams.ts'));
  const event = { path: '/event', body: '' };
  const open = { path: '/', body: '' };
  return { name: 'floor: node:http streams', server, open, event: () => event, ready: () => delay(100) };
}
