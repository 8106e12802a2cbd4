// The floor under a Message to a registered agent: node:http that inserts a row with the Message, forwards the request
// to the agent as a stream with undici, inserts a row with the agent's events, and answers with the Task. Rows that come
// while a commit is under way share the next. Nothing is validated, and no event is converted.
import { createServer, type ServerResponse } from 'node:http';
import pg from 'pg';
import { Agent, request } from 'undici';
import { type EchoRequest, echoTask, newIds } from './echo-answer.ts';
import { announce } from './serve.ts';
import { SharedCommits } from './shared-commits.ts';

interface Row {
  taskId: string;
  kind: 'message' | 'events';
  content: string;
}

const HEADERS = { 'content-type': 'application/json', 'a2a-version': '1.0' };

const agentUrl = process.env.AGENT_URL ?? '';
const dispatcher = new Agent();
const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  max: 1,
  options: '-c plan_cache_mode=force_generic_plan',
});
await pool.query('CREATE TABLE relayed (task_id text, kind text, content text NOT NULL, PRIMARY KEY (task_id, kind))');
const commits = new SharedCommits<Row>(insert);

const server = createServer((incoming, response) => {
  const chunks: Buffer[] = [];
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
  incoming.on('end', () => {
    answer(Buffer.concat(chunks).toString(), response).catch((error: Error) =>
      response.writeHead(500).end(String(error.stack)),
    );
  });
});
announce(server.listen(0, '127.0.0.1'));

async function answer(content: string, response: ServerResponse): Promise<void> {
  const received = JSON.parse(content) as EchoRequest;
  const ids = newIds();
  const { taskId } = ids;
  await commits.write({ taskId, kind: 'message', content });
  const events = await forward({ ...received, method: 'SendStreamingMessage' });
  await commits.write({ taskId, kind: 'events', content: events });
  const body = JSON.stringify(echoTask(received, ids));
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

/** Sends a request to the agent and returns its stream of events as text. */
async function forward(message: EchoRequest): Promise<string> {
  const answered = await request(agentUrl, {
    dispatcher,
    method: 'POST',
    headers: HEADERS,
    body: JSON.stringify(message),
  });
  const events = await answered.body.text();
  if (!events.includes('TASK_STATE_COMPLETED')) throw new Error(`The agent answered ${events.slice(0, 500)}`);
  return events;
}

function insert(rows: readonly Row[]): Promise<unknown> {
  const places = rows.map((_, n) => `($${3 * n + 1}, $${3 * n + 2}, $${3 * n + 3})`);
  const text = `INSERT INTO relayed VALUES ${places.join(', ')}`;
  const values = rows.flatMap(({ taskId, kind, content }) => [taskId, kind, content]);
  return pool.query({ name: `relayed-${rows.length}`, text, values });
}
