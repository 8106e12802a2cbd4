// Blocking SendMessage: Parley with PostgreSQL commits beside the official SDK's server in memory, in one run.
import { load, type LoadResult } from './measure/load.ts';
import { cpuMicroseconds, familyCpuMicroseconds } from './measure/processes.ts';
import { startPostgres } from './servers/postgres.ts';
import { type BenchServer, startParley, startPeer } from './servers/start.ts';

const HEADERS = { 'content-type': 'application/json', 'a2a-version': '1.0' };
const seconds = Number(process.env.SECONDS ?? 5);
const rounds = Number(process.env.ROUNDS ?? 3);
const connections = (process.env.CONNECTIONS ?? '32,128').split(',').map(Number);

interface Subject {
  name: string;
  server: BenchServer;
  path: string;
  postgresPid?: number;
}

const postgres = await startPostgres();
const parley = await startParley(await postgres.database('parley_bench'));
const memory = await startPeer('sdk-memory.ts');
try {
  await createEcho(parley.url);
  const subjects: Subject[] = [
    { name: 'Parley, PostgreSQL', server: parley, path: '/a2a/workflows/echo/nodes/echo', postgresPid: postgres.pid },
    { name: 'official SDK, memory', server: memory, path: '/' },
  ];
  for (const subject of subjects) await measure(subject, 32, 2);
  for (const count of connections) {
    for (let round = 0; round < rounds; round += 1) {
      for (const subject of subjects) report(subject, count, await measure(subject, count, seconds));
    }
  }
} finally {
  await Promise.all([parley.stop(), memory.stop()]);
  await postgres.stop();
}

async function createEcho(url: string): Promise<void> {
  const body = JSON.stringify({ name: 'echo', nodes: [{ id: 'echo', type: 'input' }], edges: [] });
  const answer = await fetch(`${url}/api/workflows`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  if (answer.status !== 201) throw new Error(await answer.text());
}

async function measure(
  subject: Subject,
  count: number,
  duration: number,
): Promise<LoadResult & { node: number; pg: number }> {
  const { server, postgresPid } = subject;
  const before = {
    node: cpuMicroseconds(server.pid),
    pg: postgresPid === undefined ? 0 : familyCpuMicroseconds(postgresPid),
  };
  const result = await load({
    url: server.url,
    connections: count,
    seconds: duration,
    request: (number) => ({ path: subject.path, headers: HEADERS, body: sendMessage(number) }),
    check: (status, body) => {
      if (status !== 200 || !body.includes('TASK_STATE_COMPLETED'))
        throw new Error(`${subject.name}: ${status} ${body}`);
    },
  });
  const node = (cpuMicroseconds(server.pid) - before.node) / result.requests;
  const pg = postgresPid === undefined ? 0 : (familyCpuMicroseconds(postgresPid) - before.pg) / result.requests;
  return { ...result, node, pg };
}

function sendMessage(number: number): string {
  return `{"jsonrpc":"2.0","id":${number},"method":"SendMessage","params":{"message":{"messageId":"m${number}","role":"ROLE_USER","parts":[{"text":"hello"}]}}}`;
}

function report(subject: Subject, count: number, result: LoadResult & { node: number; pg: number }): void {
  const { requests, seconds: took, p50, p99, node, pg } = result;
  process.stdout.write(
    `${String(count).padStart(4)} connections  ${subject.name.padEnd(22)} ${(requests / took).toFixed(0).padStart(6)}/s  ` +
      `p50 ${p50.toFixed(1)} ms  p99 ${p99.toFixed(1)} ms  node ${node.toFixed(0)} µs  postgres ${pg.toFixed(0)} µs\n`,
  );
}
