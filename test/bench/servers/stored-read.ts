// The floor under GetTask: node:http that reads the one row of Parley's log by its primary key, and answers with it.
import { createServer, type ServerResponse } from 'node:http';
import pg from 'pg';
import { announce } from './serve.ts';

const POOL_SIZE = 20;
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: POOL_SIZE });

interface GetRequest {
  id: number;
  params: { id: string };
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    answer(JSON.parse(Buffer.concat(chunks).toString()) as GetRequest, response).catch((error: Error) =>
      response.writeHead(500).end(String(error.stack)),
    );
  });
});
announce(server.listen(0, '127.0.0.1'));

async function answer({ id, params }: GetRequest, response: ServerResponse): Promise<void> {
  const text = 'SELECT events FROM task_log WHERE task_id = $1';
  const { rows } = await pool.query<{ events: string }>({ name: 'log', text, values: [params.id] });
  const body = JSON.stringify({ jsonrpc: '2.0', id, result: rows[0] });
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}
