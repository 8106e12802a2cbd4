import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadConfig } from '#libs/service';
import { freePort } from '../../../test/support/free-port.mjs';
import { withoutStandstill } from '../../../test/support/without-standstill.js';
import { OutboundHttp } from './outbound-http.js';

const bodies: string[] = [];
let connections = 0;
const server = createServer((request, response) => {
  let body = '';
  request.on('data', (piece) => (body += String(piece)));
  request.on('end', () => {
    bodies.push(body);
    response.end('taken');
  });
}).on('connection', () => (connections += 1));
const http = new OutboundHttp(loadConfig({ HOST: '127.0.0.1', LOG_LEVEL: 'silent' }));
let port = 0;
const url = () => `http://127.0.0.1:${port}/`;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});

beforeEach(() => {
  bodies.length = 0;
});

afterAll(async () => {
  await http.close();
  server.close();
});

/** The functions `request` and `fetch`, each as a call with a gate. */
const CALLS: [string, (body: string, gate: () => void, at?: string) => Promise<unknown>][] = [
  [
    'request',
    async (body, gate, at = url()) => {
      const answer = await http.request({ url: new URL(at), method: 'POST', headers: {}, body, gate });
      return answer.readText(100);
    },
  ],
  ['fetch', async (body, gate, at = url()) => (await http.fetch(at, { method: 'POST', body, gate })).text()],
];

describe.each(CALLS)('the gate of %s', (_name, send) => {
  it('opens once the connection is there, before anything is sent', async () => {
    const seen: unknown[] = [];
    await send('hello', () => seen.push(...[[...bodies], connections > 0]));
    expect([seen, bodies]).toEqual([[[], true], ['hello']]);
  });

  it('prevents the request by its error, and leaves the connection to the next call', async () => {
    const closed = new Error('closed');
    const added = await withoutStandstill(http['standstills'], async () => {
      bodies.length = 0;
      await send('first', () => undefined);
      const before = connections;
      await expect(send('never', () => refuse(closed))).rejects.toBe(closed);
      await send('second', () => undefined);
      return connections - before;
    });
    expect([bodies, added]).toEqual([['first', 'second'], 0]);
  });

  it('is not called if there is no connection', async () => {
    const calls: string[] = [];
    const nowhere = `http://127.0.0.1:${await freePort()}/`;
    await expect(send('hello', () => calls.push('called'), nowhere)).rejects.toMatchObject({ kind: 'connect' });
    expect(calls).toEqual([]);
  });
});

function refuse(error: Error): never {
  throw error;
}
