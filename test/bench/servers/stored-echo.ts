// The floor under a durable Message: node:http that makes the four events and answers when they are committed, as one row
// under the Task's id, without the ids that the row has. Messages that come while a commit is under way share the next.
import { createServer, type ServerResponse } from 'node:http';
import pg from 'pg';
import { echoEvents, echoFrame, type EchoRequest, echoTask, isStreaming, newIds } from './echo-answer.ts';
import { announce } from './serve.ts';
import { SharedCommits } from './shared-commits.ts';

interface Row {
  taskId: string;
  contextId: string;
  events: string;
}

const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  max: 1,
  options: '-c plan_cache_mode=force_generic_plan',
});
await pool.query('CREATE TABLE kept (task_id text PRIMARY KEY, context_id text NOT NULL, events text NOT NULL)');
const commits = new SharedCommits<Row>(insert);

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    answer(JSON.parse(Buffer.concat(chunks).toString()) as EchoRequest, response).catch((error: Error) =>
      response.writeHead(500).end(String(error.stack)),
    );
  });
});
announce(server.listen(0, '127.0.0.1'));

async function answer(request: EchoRequest, response: ServerResponse): Promise<void> {
  const ids = newIds();
  const { taskId, contextId } = ids;
  const events = echoEvents(request, ids).map((event) => JSON.stringify(event));
  const text = events.join('\u001e').replaceAll(taskId, '\u0001').replaceAll(contextId, '\u0002');
  await commits.write({ taskId, contextId, events: text });
  if (!isStreaming(request)) {
    const body = JSON.stringify(echoTask(request, ids));
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
    response.end(body);
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) response.write(echoFrame(request, event));
  response.end();
}

function insert(rows: readonly Row[]): Promise<unknown> {
  const places = rows.map((_, n) => `($${3 * n + 1}, $${3 * n + 2}, $${3 * n + 3})`);
  const text = `INSERT INTO kept VALUES ${places.join(', ')}`;
  const values = rows.flatMap(({ taskId, contextId, events }) => [taskId, contextId, events]);
  return pool.query({ name: `kept-${rows.length}`, text, values });
}
