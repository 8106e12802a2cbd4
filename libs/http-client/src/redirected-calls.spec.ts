import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { loadConfig } from '#libs/service';
import { OutboundHttp } from './outbound-http.js';

const REQUEST_MS = 100;

/** Server that redirects `/3` to `/2`, `/2` to `/1` and `/1` to `/0`, each after REQUEST_MS. */
const server = createServer((request, response) => {
  const left = Number(request.url?.slice(1));
  void delay(REQUEST_MS).then(() => {
    if (left === 0) response.end('arrived');
    else response.writeHead(302, { location: `/${left - 1}` }).end();
  });
});
const http = new OutboundHttp(loadConfig({ HOST: '127.0.0.1', LOG_LEVEL: 'silent' }));

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(async () => {
  await http.close();
  server.close();
});

describe('a call that is redirected', () => {
  const url = () => new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/3`);

  it('has one total time for all its requests', async () => {
    // Each request by itself takes a third of that time.
    const call = http.request({ url: url(), method: 'GET', headers: {}, totalMs: 3 * REQUEST_MS });
    await expect(call).rejects.toMatchObject({ phase: 'total' });
  });

  it('arrives within that time', async () => {
    const answer = await http.request({ url: url(), method: 'GET', headers: {}, totalMs: 60_000 });
    expect(await answer.readText(100)).toBe('arrived');
  });
});
