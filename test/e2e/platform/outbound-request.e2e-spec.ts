import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createGzip, gzipSync } from 'node:zlib';
import {
  type OutboundCall,
  OutboundHttp,
  OutboundInterruptedError,
  OutboundRefusedError,
  OutboundTimeoutError,
  OutboundTooLongError,
} from '#libs/http-client';
import { loadConfig } from '#libs/service';
import { until } from '../../support/until.js';
import { withoutStandstill } from '../../support/without-standstill.js';

const MEGABYTE = 1024 ** 2;

let server: Server;
let url: URL;
let answer: RequestListener;
let connections = 0;
const http = new OutboundHttp(loadConfig({}));

beforeAll(async () => {
  server = createServer((request, response) => answer(request, response)).listen(0, '127.0.0.1');
  server.on('connection', () => (connections += 1));
  await once(server, 'listening');
  url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/a?b=1`);
});

beforeEach(() => (connections = 0));

afterAll(async () => {
  await http.close();
  server.closeAllConnections();
  server.close();
});

function call(init: Partial<OutboundCall> = {}): OutboundCall {
  return { url, method: 'GET', headers: {}, ...init };
}

describe('request', () => {
  it('sends method, path, headers and body, and gives status, headers and text', async () => {
    answer = (request, response) => {
      response.writeHead(418, { 'x-told': `${request.method} ${request.url} ${request.headers['x-one']}` });
      request.pipe(response);
    };
    const given = await http.request(call({ method: 'POST', headers: { 'x-one': '1' }, body: 'grüße' }));
    expect([given.status, given.getHeader('x-told'), await given.readText(100)]).toEqual([
      418,
      'POST /a?b=1 1',
      'grüße',
    ]);
  });

  it.each([
    ['known', (response: ServerResponse) => response.writeHead(200, { 'content-length': 101 }).end('x'.repeat(101))],
    ['not known', (response: ServerResponse) => void response.writeHead(200).write('x'.repeat(101))],
    [
      'hidden by compression',
      (response: ServerResponse) =>
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(101))),
    ],
  ])('refuses a text that is too long, its length %s', async (_how, send) => {
    answer = (_request, response) => void send(response);
    const given = await http.request(call());
    await expect(given.readText(100)).rejects.toBeInstanceOf(OutboundTooLongError);
  });

  it('gives pieces while the answer is still open, compressed or not', async () => {
    for (const compressed of [false, true]) {
      answer = (_request, response) => {
        response.writeHead(200, compressed ? { 'content-encoding': 'gzip' } : {});
        const body = compressed ? createGzip() : response;
        if (compressed) body.pipe(response);
        body.write('first');
        if ('flush' in body) body.flush();
      };
      const pieces = (await http.request(call())).readPieces()[Symbol.asyncIterator]();
      expect(Buffer.from((await pieces.next()).value as Uint8Array).toString()).toBe('first');
      await pieces.return?.();
    }
  });

  it('takes no more in than its reader reads', async () => {
    let sent = 0;
    const send = async (response: ServerResponse): Promise<void> => {
      for (; sent < 128 && !response.destroyed; sent += 1)
        if (!response.write(Buffer.alloc(MEGABYTE))) await once(response, 'drain').catch(() => undefined);
      response.end();
    };
    answer = (_request, response) => void send(response);
    const given = await http.request(call());
    for (let before = -1; before !== sent; await delay(100)) before = sent;
    expect(sent).toBeLessThan(64);
    let bytes = 0;
    for await (const piece of given.readPieces()) bytes += piece.byteLength;
    expect(bytes).toBe(128 * MEGABYTE);
  });

  it.each(['discard', 'pieces'] as const)('closes the connection of an answer given up by %s', async (how) => {
    let closed = false;
    answer = (_request, response) => {
      response.on('close', () => (closed = true));
      response.writeHead(200).write('more to come');
    };
    const given = await http.request(call());
    if (how === 'discard') given.discardBody();
    else for await (const _piece of given.readPieces()) break;
    await until(() => closed, { what: 'the connection to close' });
  });

  it('uses a connection again, after a redirect too', async () => {
    answer = (request, response) => {
      if (request.url === '/end') response.end('there');
      else response.writeHead(302, { location: '/end' }).end('elsewhere');
    };
    const opened = await withoutStandstill(http['standstills'], async () => {
      const before = connections;
      for (let calls = 0; calls < 3; calls += 1) expect(await (await http.request(call())).readText(100)).toBe('there');
      return connections - before;
    });
    // The first redirect is followed while its own connection is still in use.
    expect(opened).toBeLessThanOrEqual(2);
    const post = await http.request(call({ method: 'POST', body: '{}' }));
    expect([post.status, await post.readText(100)]).toEqual([302, 'elsewhere']);
  });

  it('tells what went wrong by the type of the error', async () => {
    answer = () => undefined;
    const late = { name: OutboundTimeoutError.name, phase: 'first-byte' };
    await expect(http.request(call({ firstByteMs: 50 }))).rejects.toMatchObject(late);
    answer = (_request, response) => void response.writeHead(200).write('half');
    const idle = { name: OutboundTimeoutError.name, phase: 'idle' };
    await expect((await http.request(call({ idleMs: 50 }))).readText(100)).rejects.toMatchObject(idle);
    answer = (_request, response) => response.writeHead(200).write('half', () => response.destroy());
    await expect((await http.request(call())).readText(100)).rejects.toBeInstanceOf(OutboundInterruptedError);
    answer = (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('not so');
    await expect((await http.request(call())).readText(100)).rejects.toBeInstanceOf(OutboundInterruptedError);
    const elsewhere = new URL('http://169.254.169.254/');
    await expect(http.request(call({ url: elsewhere }))).rejects.toBeInstanceOf(OutboundRefusedError);
    await expect(http.request(call({ url: new URL('ftp://a') }))).rejects.toBeInstanceOf(OutboundRefusedError);
    await expect(http.request(call({ headers: { 'a b': 'c' } }))).rejects.toBeInstanceOf(TypeError);
  });

  it.each(['the head', 'the body'])('rejects with the reason of the abort while it waits for %s', async (what) => {
    const abort = new AbortController();
    const reason = new Error('canceled');
    answer = (_request, response) => {
      if (what === 'the body') response.writeHead(200).write('half');
      else abort.abort(reason);
    };
    const given = http.request(call({ signal: abort.signal })).then((it) => {
      abort.abort(reason);
      return it.readText(100);
    });
    await expect(given).rejects.toBe(reason);
    await expect(http.request(call({ signal: abort.signal }))).rejects.toBe(reason);
  });
});

describe('freshUntil', () => {
  async function freshness(control: string | undefined): Promise<number> {
    const target = new URL(`/${encodeURIComponent(control ?? 'none')}`, url);
    answer = (_request, response) =>
      response.writeHead(200, control === undefined ? {} : { 'cache-control': control, etag: '"1"' }).end('card');
    await (await http.cachedRequest(call({ url: target }))).readText(100);
    return http.freshUntil(target, {}) - Date.now();
  }

  it('is when the cache will ask again', async () => {
    const left = await until(async () => (await freshness('max-age=60')) > 0 && freshness('max-age=60'));
    expect(left).toBeGreaterThan(50_000);
    expect(left).toBeLessThanOrEqual(60_000);
  });

  it.each(['max-age=0', 'no-cache, max-age=60', 'no-store', 'private, max-age=60', undefined])(
    'is never with %s',
    async (control) => {
      await freshness(control);
      expect(await freshness(control)).toBeLessThanOrEqual(0);
    },
  );
});
