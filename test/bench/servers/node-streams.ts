// The floor under open streams: node:http holds them, and writes one event to all when it is asked to.
import { createServer, type ServerResponse } from 'node:http';
import { announce } from './serve.ts';

const readers = new Set<ServerResponse>();

const server = createServer((request, response) => {
  request.resume();
  if (request.url === '/event') {
    const frame = `id: 1\ndata: ${JSON.stringify({ statusUpdate: { status: { state: 'TASK_STATE_WORKING' } } })}\n\n`;
    for (const reader of readers) reader.write(frame);
    response.end();
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write('id: 1\ndata: {"task":{}}\n\n');
  readers.add(response);
  response.once('close', () => readers.delete(response));
});
server.requestTimeout = 0;
announce(server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }));
