import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Bench, Row } from '../comparison.ts';
import { openSockets, residentBytes } from '../measure/processes.ts';
import { type BenchServer, startParley, startPeer } from '../servers/bench-server.ts';
import { callAgent } from './a2a-requests.ts';
import { DOOR_PATH, registerAgent } from './door.ts';

const SETTLE_MS = 10_000;
const SENDERS = 32;
const KIB = 1024;

/** Measurements of an idle replica. */
interface Standing {
  bytes: number;
  sockets: number;
}

/**
 * Measures the cost of Tasks that wait for an agent which calls webhooks: memory and sockets of a replica, in
 * comparison with the same number of ended Tasks; and the time until all have ended once the agent continues.
 */
export async function doorWaitingCase(bench: Bench): Promise<Row[]> {
  const tasks = bench.options.parkedRuns;
  const url = await bench.postgres.database('parley');
  const database = new pg.Pool({ connectionString: url, max: 1 });
  const port = String(await freePort());
  try {
    const [agent, parley] = await Promise.all([
      bench.using(startPeer('sdk-memory.ts', { NODE_OPTIONS: '--max-old-space-size=4096' })),
      bench.using(startParley(url, { PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}` })),
    ]);
    await registerAgent(parley.url, agent.url, { park: 1 });
    await send(parley, 'hello', tasks);
    await until(database, LEFT, 0);
    const before = await standing(parley);
    bench.progress(`${tasks} tasks begin to wait for the agent …`);
    await send(parley, 'wait', tasks);
    await until(database, PARKED, tasks);
    const after = await standing(parley);
    const begun = performance.now();
    await fetch(`${agent.url}/release`, { method: 'POST' });
    await until(database, LEFT, 0);
    const seconds = (performance.now() - begun) / 1000;
    bench.table({
      title: `${tasks} tasks that wait for an agent with webhooks: a replica with nothing to do`,
      header: ['after', 'RSS MiB', 'sockets'],
      rows: [
        ['as many tasks that have ended', before.bytes / KIB ** 2, before.sockets],
        ['parking them', after.bytes / KIB ** 2, after.sockets],
      ],
    });
    bench.note(`Each waiting task cost ${((after.bytes - before.bytes) / tasks / KIB).toFixed(1)} kB.`);
    bench.note(`All ${tasks} had ended ${seconds.toFixed(1)} s after the agent went on.`);
  } finally {
    await database.end();
  }
  return [];
}

/** Sends Messages that return immediately, 32 at a time. */
async function send({ url }: BenchServer, text: string, messages: number): Promise<void> {
  let left = messages;
  const sender = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const message = { messageId: `${text}-${left}`, role: 'ROLE_USER', parts: [{ text }] };
      await callAgent(`${url}${DOOR_PATH}`, 'SendMessage', { message, configuration: { returnImmediately: true } });
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
}

async function standing({ pid }: BenchServer): Promise<Standing> {
  await delay(SETTLE_MS);
  return { bytes: residentBytes(pid), sockets: openSockets(pid) };
}

async function until(database: pg.Pool, query: string, wanted: number): Promise<void> {
  for (;;) {
    const { rows } = await database.query(query);
    if (Number(rows[0].n) === wanted) return;
    await delay(100);
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return address !== null && typeof address === 'object' ? address.port : 0;
}

const PARKED = 'SELECT count(*) AS n FROM task WHERE wake_at > now() AND replica_id IS NULL';
const LEFT = `
  SELECT count(*) AS n FROM task
  WHERE state NOT IN ('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')`;
