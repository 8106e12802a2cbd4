import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import {
  OutboundConnectError,
  OutboundHttp,
  OutboundInterruptedError,
  OutboundRefusedError,
  OutboundTimeoutError,
} from '#libs/http-client';
import { loadConfig } from '#libs/service';

let server: Server;
let base: string;
let answer: RequestListener;
let received: string[];
const doors: OutboundHttp[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    received.push(`${request.method} ${request.url}`);
    answer(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

beforeEach(() => {
  received = [];
  answer = (_request, response) => response.end('ok');
});

afterEach(async () => {
  await Promise.all(doors.splice(0).map((door) => door.close()));
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

describe('fetch', () => {
  it('sends method, headers and body, and gives a web Response', async () => {
    answer = (request, response) => echo(request, response);
    const body = JSON.stringify({ text: 'grüße' });
    const response = await door().fetch(`${base}/a?b=1`, { method: 'post', headers: { 'X-One': '1' }, body });
    expect(response).toBeInstanceOf(Response);
    expect(response.url).toBe(`${base}/a?b=1`);
    expect(await response.json()).toMatchObject({ method: 'POST', url: '/a?b=1', one: '1', body });
  });

  it.each([
    [
      'a Request',
      () => new Request(`${base}/r`, { method: 'PUT', body: 'text', headers: { 'x-one': '2' } }),
      undefined,
    ],
    ['a stream', () => `${base}/r`, { method: 'PUT', body: new Blob(['text']).stream(), headers: { 'x-one': '2' } }],
    [
      'bytes',
      () => new URL(`${base}/r`),
      { method: 'PUT', body: Buffer.from('text'), headers: [['x-one', '2']] as [string, string][] },
    ],
  ])('takes %s', async (_name, input, init) => {
    answer = (request, response) => echo(request, response);
    const response = await door().fetch(input(), init);
    expect(await response.json()).toMatchObject({ method: 'PUT', one: '2', body: 'text' });
  });

  it('streams: the first event is read while the answer is still open', async () => {
    answer = (_request, response) =>
      void response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
    const abort = new AbortController();
    const response = await door().fetch(base, { signal: abort.signal });
    const reader = response.body!.getReader();
    expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe('data: 1\n\n');
    const reason = new Error('enough');
    abort.abort(reason);
    await expect(reader.read()).rejects.toBe(reason);
  });

  it('takes compression off', async () => {
    answer = (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('plain'));
    expect(await (await door().fetch(base)).text()).toBe('plain');
  });

  it('rejects with the reason of the abort while it waits', async () => {
    const abort = new AbortController();
    const reason = new Error('canceled');
    answer = () => abort.abort(reason);
    await expect(door().fetch(base, { signal: abort.signal })).rejects.toBe(reason);
  });

  it('tells what went wrong by the type of the error', async () => {
    answer = () => undefined;
    await expect(door().fetch(base, { firstByteMs: 50 })).rejects.toMatchObject({
      name: 'OutboundTimeoutError',
      phase: 'first-byte',
    });
    await expect(door().fetch(base, { totalMs: 50 })).rejects.toMatchObject({
      name: 'OutboundTimeoutError',
      phase: 'total',
    });
    await expect(door().fetch(base, { totalMs: 50 })).rejects.toBeInstanceOf(OutboundTimeoutError);
    answer = (request) => request.socket.destroy();
    await expect(door().fetch(base, { method: 'POST', body: '{}' })).rejects.toBeInstanceOf(OutboundInterruptedError);
    await expect(door().fetch(`http://127.0.0.1:${await closedPort()}`)).rejects.toBeInstanceOf(OutboundConnectError);
    await expect(door().fetch('file:///etc/passwd')).rejects.toBeInstanceOf(OutboundRefusedError);
  });

  it('tells a body that broke off from one that ended', async () => {
    answer = (_request, response) => response.writeHead(200).write('half', () => response.destroy());
    const response = await door().fetch(base);
    await expect(response.text()).rejects.toBeInstanceOf(OutboundInterruptedError);
  });
});

describe('redirects', () => {
  it('follows GET up to three times and leaves credentials behind at another origin', async () => {
    const other = base.replace('127.0.0.1', 'localhost');
    answer = (request, response) => {
      if (request.url === '/end') return response.end(String(request.headers.authorization));
      const step = Number(request.url!.slice(1));
      response.writeHead(302, { location: step === 3 ? `${other}/end` : `/${step + 1}` }).end();
    };
    const response = await door().fetch(`${base}/1`, { headers: { authorization: 'secret' } });
    expect([await response.text(), response.redirected, received.length]).toEqual(['undefined', true, 4]);
    await expect(door().fetch(`${base}/0`)).rejects.toBeInstanceOf(OutboundRefusedError);
  });

  it('gives the redirect of a POST as the answer', async () => {
    answer = (_request, response) => response.writeHead(307, { location: '/elsewhere' }).end();
    expect((await door().fetch(base, { method: 'POST', body: '{}' })).status).toBe(307);
    expect(received).toEqual(['POST /']);
  });

  it('refuses a redirect to an address that is not allowed', async () => {
    answer = (_request, response) => response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end();
    await expect(door().fetch(base)).rejects.toBeInstanceOf(OutboundRefusedError);
  });
});

describe('addresses', () => {
  const OPEN = { HOST: '0.0.0.0', AUTH_MODE: 'none', AUTH_ALLOW_ANONYMOUS: 'true' };

  it('refuses loopback, by address and by name, while the service listens to other machines', async () => {
    const outside = door(OPEN);
    await expect(outside.fetch(base)).rejects.toBeInstanceOf(OutboundRefusedError);
    await expect(outside.fetch(base.replace('127.0.0.1', 'localhost'))).rejects.toBeInstanceOf(OutboundRefusedError);
    await expect(outside.fetch(base.replace('127.0.0.1', '[::ffff:127.0.0.1]'))).rejects.toBeInstanceOf(
      OutboundRefusedError,
    );
    await expect(outside.fetch(base.replace('127.0.0.1', '2130706433'))).rejects.toBeInstanceOf(OutboundRefusedError);
    expect(received).toEqual([]);
  });

  it('lets through what the operator allowed: a range, a host, one trusted URL', async () => {
    expect((await door({ ...OPEN, OUTBOUND_ALLOW: '127.0.0.0/8' }).fetch(base)).status).toBe(200);
    expect(
      (await door({ ...OPEN, OUTBOUND_ALLOW: 'localhost' }).fetch(base.replace('127.0.0.1', 'localhost'))).status,
    ).toBe(200);
    const outside = door(OPEN);
    expect((await outside.trustingFetch(base)(base)).status).toBe(200);
    await expect(outside.fetch(base)).rejects.toBeInstanceOf(OutboundRefusedError);
  });

  it('lets the service itself be called by those who call it, at its own places, and by nobody else', async () => {
    const http = door({ ...OPEN, INTERNAL_URL: base });
    const own = http.reachingSelf((url) => url.startsWith(`${base}/own/`));
    for (const fetch of [own.fetch, own.cachedFetch]) {
      expect((await fetch(`${base}/own/x`)).status).toBe(200);
      await expect(fetch(`${base}/own/../x`)).rejects.toBeInstanceOf(OutboundRefusedError);
      await expect(fetch(`${base}/x`)).rejects.toBeInstanceOf(OutboundRefusedError);
    }
    await expect(http.fetch(`${base}/own/x`)).rejects.toBeInstanceOf(OutboundRefusedError);
  });

  it('loopback is open to others only while nobody is asked who calls', async () => {
    const asking = { AUTH_MODE: 'api-key', AUTH_API_KEYS: 'ann:0123456789abcdef' };
    expect((await door().fetch(base)).status).toBe(200);
    await expect(door(asking).fetch(base)).rejects.toBeInstanceOf(OutboundRefusedError);
    expect((await door({ ...asking, OUTBOUND_ALLOW: '127.0.0.1' }).fetch(base)).status).toBe(200);
  });

  it('calls no URL with a password, nor follows a redirect to one', async () => {
    const url = base.replace('//', '//user:secret@');
    await expect(door().request({ url: new URL(url), method: 'GET', headers: {} })).rejects.toMatchObject({
      refusal: 'userinfo',
      message: expect.not.stringContaining('secret'),
    });
    expect(received).toEqual([]);
    answer = (_request, response) => response.writeHead(302, { location: `${url}/x` }).end();
    await expect(door().fetch(base)).rejects.toMatchObject({ refusal: 'userinfo' });
    expect(received).toHaveLength(1);
  });
});

describe('cachedFetch', () => {
  it('answers from memory while fresh', async () => {
    answer = (_request, response) => response.writeHead(200, { 'cache-control': 'max-age=60' }).end('card');
    const { cachedFetch } = door();
    expect(await (await cachedFetch(base)).text()).toBe('card');
    expect(await (await cachedFetch(base)).text()).toBe('card');
    expect(received).toHaveLength(1);
  });

  it('revalidates at every call with max-age=0, and never serves what has changed', async () => {
    let version = 1;
    const statuses: number[] = [];
    answer = (request, response) => {
      const etag = `"v${version}"`;
      const status = request.headers['if-none-match'] === etag ? 304 : 200;
      statuses.push(status);
      response
        .writeHead(status, { etag, 'cache-control': 'max-age=0' })
        .end(status === 200 ? `card ${version}` : undefined);
    };
    const { cachedFetch } = door();
    expect(await (await cachedFetch(base)).text()).toBe('card 1');
    expect(await (await cachedFetch(base)).text()).toBe('card 1');
    version = 2;
    expect(await (await cachedFetch(base)).text()).toBe('card 2');
    expect(statuses).toEqual([200, 304, 200]);
  });

  it.each(['no-store', undefined])('asks again with cache-control %s', async (control) => {
    answer = (_request, response) => response.writeHead(200, control ? { 'cache-control': control } : {}).end('card');
    const { cachedFetch } = door();
    await (await cachedFetch(base)).text();
    await (await cachedFetch(base)).text();
    expect(received).toHaveLength(2);
  });

  it('does not serve a stale answer when the origin is gone or fails', async () => {
    answer = (_request, response) =>
      response.writeHead(200, { etag: '"v1"', 'cache-control': 'max-age=0' }).end('card');
    const { cachedFetch } = door();
    await (await cachedFetch(base)).text();
    answer = (_request, response) => response.writeHead(503).end('down');
    expect((await cachedFetch(base)).status).toBe(503);
    answer = (request) => request.socket.destroy();
    await expect(cachedFetch(base)).rejects.toBeInstanceOf(OutboundInterruptedError);
  });
});

function door(env: Record<string, string> = {}): OutboundHttp {
  const made = new OutboundHttp(loadConfig(env));
  doors.push(made);
  return made;
}

function echo(request: IncomingMessage, response: ServerResponse): void {
  let body = '';
  request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
  request.on('end', () => {
    const told = { method: request.method, url: request.url, one: request.headers['x-one'], body };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(told));
  });
}

async function closedPort(): Promise<number> {
  const probe = createTcpServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
