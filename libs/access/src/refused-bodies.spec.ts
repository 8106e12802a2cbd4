import { once } from 'node:events';
import { Agent, type ClientRequest, createServer, request, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { RefusedBodies } from './refused-bodies.js';

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const LARGE = 'x'.repeat(1024 * 1024);
let server: Server;
let listeners: number[];
/** True if the server responds before it has read the request's body. */
let early: boolean;
let ended = 0;
let dropped = 0;
const sockets: Socket[] = [];

beforeEach(async () => {
  const refused = new RefusedBodies({ noteDropped: (bytes) => void (dropped += bytes) });
  const isCurrent = (): boolean => server === mine;
  listeners = [];
  early = false;
  ended = 0;
  dropped = 0;
  server = createServer((incoming, answer) => {
    refused.dropBody(incoming);
    if (early) answer.writeHead(429).end('refused');
    incoming.once('end', () => (ended += isCurrent() ? 1 : 0));
    if (early) return;
    incoming.once('end', () => {
      listeners.push(incoming.socket.listenerCount('close'));
      answer.writeHead(503).end();
    });
  });
  const mine = server;
  await once(server.listen(0, '127.0.0.1'), 'listening');
});

afterEach(() => {
  agent.destroy();
  for (const socket of sockets.splice(0)) socket.destroy();
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

/** Sends a request on a separate connection, which may continue to send after the response has ended. */
async function begin(head: string, body: string): Promise<{ socket: Socket; answered: Promise<void> }> {
  const { port } = server.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).setEncoding('utf8');
  sockets.push(socket);
  socket.on('error', () => undefined);
  let text = '';
  const answered = new Promise<void>((resolve) => {
    socket.on('data', (piece: string) => ((text += piece), text.includes('refused') && resolve()));
  });
  socket.write(`POST / HTTP/1.1\r\nHost: parley.test\r\n${head}\r\n\r\n${body}`);
  return { socket, answered };
}

/** True if the text could be sent; false if the connection was reset. */
function couldSend(socket: Socket, text: string): Promise<boolean> {
  return new Promise((resolve) => socket.write(text, (error) => resolve(!error && !socket.errored)));
}

const closing = (bytes: number): string => `Connection: close\r\nContent-Length: ${bytes}`;

it('are read to their ends where the connection ends with the answer, which nobody loses', async () => {
  early = true;
  const callers = await Promise.all(
    Array.from({ length: 20 }, () => begin(closing(LARGE.length), LARGE.slice(100_000))),
  );
  await Promise.all(callers.map(({ answered }) => answered));
  for (let sent = 0; sent < 100_000; sent += 10_000) {
    const taken = await Promise.all(callers.map(({ socket }) => couldSend(socket, LARGE.slice(0, 10_000))));
    expect(taken).toEqual(callers.map(() => true));
  }
  while (ended < callers.length) await new Promise((resolve) => setImmediate(resolve));
  expect(dropped).toBe(callers.length * LARGE.length);
});

it('end the connection of a caller that has sent everything', async () => {
  early = true;
  const { socket } = await begin(closing(2), '{}');
  await once(socket, 'end');
  expect(socket.errored).toBeNull();
});

it('are read though many others bring next to nothing', async () => {
  early = true;
  const slow = await Promise.all(Array.from({ length: 12 }, () => begin(closing(LARGE.length), LARGE.slice(500_000))));
  const dripping = setInterval(() => slow.forEach(({ socket }) => socket.write('x')), 10);
  try {
    await Promise.all(slow.map(({ answered }) => answered));
    await begin(closing(LARGE.length), LARGE);
    while (ended < 1) await new Promise((resolve) => setImmediate(resolve));
  } finally {
    clearInterval(dripping);
  }
});
