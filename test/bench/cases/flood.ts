import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Bench, Row } from '../comparison.ts';
import type { LargeMessagesJob, LargeMessagesResult } from '../load/large-messages.ts';
import { residentBytes } from '../measure/processes.ts';
import { startParley } from '../servers/bench-server.ts';
import { A2A_HEADERS } from './a2a-requests.ts';
import { saveWorkflow, type WorkflowDefinition } from './parley-workflows.ts';

const HEAP_MIB = 256;
const MESSAGES = 500;
/** Number of characters of a Message whose request just fits into BODY_LIMIT. */
const CHARACTERS = 4 * 1024 ** 2 - 1_000;
const SMALL_CONNECTIONS = 4;
const WARM_UP_MS = 5_000;
/** Milliseconds after which V8 has released unused memory. */
const REST_MS = 30_000;
const MEBIBYTE = 1024 ** 2;

const KEYS = { large: 'a-key-of-the-large-caller', small: 'a-key-of-the-small-caller' };
const GREETING: WorkflowDefinition = {
  name: 'greeting',
  nodes: [
    { id: 'name', type: 'input' },
    { id: 'writer', type: 'agent', config: { prompt: 'Good day, {{name}}!' } },
    { id: 'result', type: 'output', config: { prompt: '{{writer}}' } },
  ],
  edges: [
    { from: 'name', to: 'writer' },
    { from: 'writer', to: 'result' },
  ],
};

/**
 * Measures the latency of one caller's small Messages while another caller sends as many large Messages as it can, on a
 * small heap.
 */
export async function floodCase(bench: Bench): Promise<Row[]> {
  const server = await bench.using(
    startParley(await bench.postgres.database('flood'), {
      AUTH_MODE: 'api-key',
      AUTH_API_KEYS: `large:${KEYS.large},small:${KEYS.small}`,
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}`,
      LOG_LEVEL: 'error',
    }),
  );
  await saveWorkflow(server.url, GREETING, { authorization: `Bearer ${KEYS.small}` });
  const url = `${server.url}/a2a/workflows/greeting`;
  const quiet = await smallMessages(url, delay(WARM_UP_MS));
  const before = residentBytes(server.pid);
  const flood = largeMessages({ url, key: KEYS.large, messages: MESSAGES, characters: CHARACTERS });
  const flooded = await smallMessages(url, flood);
  const { statuses } = await flood;
  await delay(REST_MS);
  const grown = (residentBytes(server.pid) - before) / MEBIBYTE;
  const told = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`);
  bench.table({
    title: `${MESSAGES} Messages of 4 MB at once from one caller, on a heap of ${HEAP_MIB} MiB: answers ${told.join(', ')}; RSS 30 s later ${grown.toFixed(0)} MiB above before`,
    header: ['small Messages of another caller', 'answered', 'not completed', 'p50 ms', 'p99 ms', 'longest ms'],
    rows: [
      ['before', ...figures(quiet)],
      ['during the flood', ...figures(flooded)],
    ],
  });
  if (flooded.lost + quiet.lost > 0) throw new Error(`${flooded.lost} small Messages were not completed`);
  return [];
}

interface SmallMessages {
  milliseconds: number[];
  lost: number;
}

/** Sends small Messages one after the other over a few connections until a promise settles. */
async function smallMessages(url: string, until: Promise<unknown>): Promise<SmallMessages> {
  const result: SmallMessages = { milliseconds: [], lost: 0 };
  let over = false;
  const end = (): void => void (over = true);
  until.then(end, end);
  const send = async (): Promise<void> => {
    while (!over) {
      const started = performance.now();
      const completed = await greet(url).catch(() => false);
      result.milliseconds.push(performance.now() - started);
      if (!completed) result.lost += 1;
    }
  };
  await Promise.all(Array.from({ length: SMALL_CONNECTIONS }, send));
  return result;
}

async function greet(url: string): Promise<boolean> {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'Ada' }] };
  const answer = await fetch(url, {
    method: 'POST',
    headers: { ...A2A_HEADERS, authorization: `Bearer ${KEYS.small}` },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }),
  });
  return (await answer.text()).includes('TASK_STATE_COMPLETED');
}

/** Sends large Messages from a separate process: sending two gigabytes blocks a process. */
async function largeMessages(job: LargeMessagesJob): Promise<LargeMessagesResult> {
  const child = fork(join(import.meta.dirname, '../load/large-messages.ts'));
  try {
    child.send(job);
    const [result] = (await once(child, 'message')) as [LargeMessagesResult];
    return result;
  } finally {
    child.kill('SIGKILL');
  }
}

function figures({ milliseconds, lost }: SmallMessages): (string | number)[] {
  const sorted = milliseconds.toSorted((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(0);
  return [sorted.length, lost, at(0.5), at(0.99), (sorted.at(-1) ?? 0).toFixed(0)];
}
