import { once } from 'node:events';
import { Agent, type ClientRequest, createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RefusedBodies } from './refused-bodies.js';

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let server: Server;
let listeners: number[];

beforeEach(async () => {
  const refused = new RefusedBodies();
  listeners = [];
  server = createServer((incoming, answer) => {
    refused.drop(incoming);
    incoming.once('end', () => {
      listeners.push(incoming.socket.listenerCount('close'));
      answer.writeHead(503).end();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
});

afterEach(() => {
  agent.destroy();
  server.close();
});

function post(): ClientRequest {
  const { port } = server.address() as AddressInfo;
  return request({ port, host: '127.0.0.1', agent, method: 'POST' });
}

it('leave nothing behind on a connection that goes on', async () => {
  for (let refusals = 0; refusals < 5; refusals += 1) {
    const asked = post().end('{}');
    const [answer] = (await once(asked, 'response')) as [NodeJS.ReadableStream];
    await once(answer.resume(), 'end');
  }
  expect(listeners).toEqual(listeners.map(() => listeners[0]));
});
