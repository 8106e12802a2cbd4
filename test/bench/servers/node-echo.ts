// The floor under every server: what node:http costs for the same request and the same answer.
import { createServer, type ServerResponse } from 'node:http';
import { echoFrames, type EchoRequest, echoTask, isStreaming } from './echo-answer.ts';
import { announce } from './serve.ts';

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => answer(JSON.parse(Buffer.concat(chunks).toString()) as EchoRequest, response));
});
announce(server.listen(0, '127.0.0.1'));

function answer(request: EchoRequest, response: ServerResponse): void {
  if (!isStreaming(request)) {
    const body = JSON.stringify(echoTask(request));
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
    response.end(body);
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const frame of echoFrames(request)) response.write(frame);
  response.end();
}
