// An agent that costs as little as can be: it answers every SendMessage with a finished Task. Its card may be kept.
import { createServer } from 'node:http';
import { type EchoRequest, echoTask } from '../echo-answer.ts';
import { announce } from '../serve.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.writeHead(200, { ...JSON_TYPE, 'cache-control': 'max-age=3600' });
    response.end(JSON.stringify(card(`http://${request.headers.host}/rpc`)));
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = JSON.stringify(echoTask(JSON.parse(Buffer.concat(chunks).toString()) as EchoRequest));
    response.writeHead(200, { ...JSON_TYPE, 'content-length': Buffer.byteLength(body) });
    response.end(body);
  });
});
server.keepAliveTimeout = 60_000;
announce(server.listen(0, '127.0.0.1'));

function card(url: string): object {
  return {
    name: 'echo',
    description: 'Echoes',
    version: '1',
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { streaming: false, pushNotifications: false },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'echo', name: 'echo', description: 'Echoes', tags: ['echo'] }],
  };
}
