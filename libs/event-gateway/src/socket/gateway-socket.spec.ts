import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Authentication, type Caller, CallerLimits, EVENTS_PROTOCOL, OpenCalls } from '#libs/access';
import { WebSocket } from 'ws';
import type { EventGateway } from '../event-gateway.js';
import { GatewaySocket } from './gateway-socket.js';

const CALLER: Caller = { tenant: '', owner: 'ann', permissions: new Set(['agents']), proof: undefined };

let authentication: { caller: () => Promise<Caller> };
let server: Server;
let port: number;
let end: () => void;
let shutdown: AbortController;

beforeEach(async () => {
  const metrics = { counter: () => ({ inc: () => undefined }), gauge: () => undefined } as never;
  const openCalls = new OpenCalls({} as Authentication);
  authentication = { caller: async () => CALLER };
  shutdown = new AbortController();
  const socket = new GatewaySocket(
    { readConnection: () => ({}), followQuery: async () => async function* () {} } as unknown as EventGateway,
    { registerStep: (_phase: string, stop: () => void) => (end = stop), started: shutdown.signal } as never,
    { findRefusal: () => undefined } as never,
    { identifyCaller: () => authentication.caller() } as unknown as Authentication,
    openCalls,
    new CallerLimits({ limits: { streams: 1 } } as never, metrics),
    metrics,
  );
  openCalls.onModuleDestroy();
  server = createServer();
  socket.attachTo(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  ({ port } = server.address() as AddressInfo);
});

afterEach(() => {
  end();
  server.close();
});

function ask(): Socket {
  const head = {
    host: 'x',
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  };
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
  const client = connect(port, '127.0.0.1');
  client.write(`GET /events HTTP/1.1\r\n${lines.join('')}\r\n`);
  return client;
}

describe('GatewaySocket', () => {
  it('counts no stream of a client that left while it was found out who it is', async () => {
    const known = Promise.withResolvers<Caller>();
    const asked = Promise.withResolvers<void>();
    authentication.caller = () => {
      asked.resolve();
      return known.promise;
    };
    const upgraded = once(server, 'upgrade') as Promise<[unknown, Duplex]>;
    const leaving = ask();
    const [[, socket]] = await Promise.all([upgraded, asked.promise]);
    const gone = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    leaving.resetAndDestroy();
    await gone;
    known.resolve(CALLER);

    const staying = new WebSocket(`ws://127.0.0.1:${port}/events`, EVENTS_PROTOCOL);
    await once(staying, 'open');
    staying.terminate();
  });

  it('refuses at the shutdown who is kept waiting for an answer of the database', async () => {
    const asked = Promise.withResolvers<void>();
    authentication.caller = () => {
      asked.resolve();
      return new Promise(() => undefined);
    };
    const client = ask();
    await asked.promise;
    const answered = once(client, 'data') as Promise<[Buffer]>;
    const ended = once(client, 'end');
    shutdown.abort();
    const [answer] = await answered;
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 503 [^]*The service is shutting down/);
    await ended;
    client.destroy();
  }, 30_000);
});
