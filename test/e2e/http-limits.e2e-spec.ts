import { connect } from 'node:net';
import { useStage } from '../support/stage.js';
import { before } from '../support/until.js';

const stage = useStage({ env: { REQUEST_TIMEOUT: '3', BODY_LIMIT: '64kb' } });

/** Sends bytes and gives everything that comes back until the service closes the connection. */
function exchange(bytes: string, more: (send: (text: string) => void) => void = () => undefined): Promise<string> {
  const { hostname, port } = new URL(stage.parley.url);
  const socket = connect(Number(port), hostname);
  let text = '';
  const closed = new Promise<string>((resolve) => {
    socket.on('data', (chunk: Buffer) => (text += chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
  });
  socket.write(bytes);
  more((piece) => void (socket.writable && socket.write(piece)));
  return before(closed, { what: 'the service to close the connection' });
}

function answer(text: string): { status: number; type: string; body: Record<string, unknown> } {
  const [head = '', body = ''] = text.split('\r\n\r\n', 2);
  const type = /content-type: ([^\s;]+)/i.exec(head)?.[1] ?? '';
  return { status: Number(head.slice(9, 12)), type, body: JSON.parse(body) as Record<string, unknown> };
}

const LARGE = `x-large: ${'y'.repeat(20_000)}\r\n`;

describe('what never becomes a request', () => {
  it.each([
    ['headers that are too large', `POST /a2a HTTP/1.1\r\nhost: localhost\r\n${LARGE}\r\n`, 431],
    ['no HTTP', 'POST /a2a nonsense\r\n\r\n', 400],
  ])('%s: is told below /a2a as the protocol does', async (_what, bytes, status) => {
    const told = answer(await exchange(bytes));
    expect(told).toMatchObject({ status, type: 'application/a2a+json' });
    expect(told.body).toMatchObject({
      error: { code: status, status: 'INVALID_ARGUMENT', details: [{ reason: 'INVALID_REQUEST' }] },
    });
  });

  it.each([
    ['headers that are too large', `GET /api/runs HTTP/1.1\r\nhost: localhost\r\n${LARGE}\r\n`, 431],
    ['too many headers', `GET /api/runs HTTP/1.1\r\nhost: localhost\r\n${'a: b\r\n'.repeat(5_000)}\r\n`, 431],
    ['no HTTP', '\u0000\u0001\u0002\r\n\r\n', 400],
  ])('%s: is a problem elsewhere', async (_what, bytes, status) => {
    expect(answer(await exchange(bytes))).toMatchObject({
      status,
      type: 'application/problem+json',
      body: { type: 'about:blank', status },
    });
  });

  it.each([
    ['/a2a/tasks/t', 'application/a2a+json', { error: { code: 400, details: [{ reason: 'HOST_MISSING' }] } }],
    ['/api/runs', 'application/problem+json', { status: 400, reason: 'HOST_MISSING' }],
  ])('a request to %s that names no host: is told so, after its body was read', async (path, type, body) => {
    const large = ' '.repeat(300_000);
    const unnamed = `GET ${path} HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n493e0\r\n${large}\r\n0\r\n\r\n`;
    const next = 'GET /health/live HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n';
    const told = await exchange(unnamed + next);
    const second = told.indexOf('HTTP/1.1 200');
    expect(second).toBeGreaterThan(0);
    expect(answer(told.slice(0, second))).toMatchObject({ status: 400, type, body });
  });

  it('headers that trickle in are given up', async () => {
    const trickle = await exchange('POST /a2a HTTP/1.1\r\nhost: localhost\r\n', (send) => {
      const timer = setInterval(() => send('x-a: b\r\n'), 100).unref();
      setTimeout(() => clearInterval(timer), 60_000).unref();
    });
    expect(answer(trickle).status).toBe(408);
  });

  it('so is a body that does', async () => {
    const head =
      'POST /a2a HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{';
    const trickle = await exchange(head, (send) => {
      const timer = setInterval(() => send(' '), 100).unref();
      setTimeout(() => clearInterval(timer), 60_000).unref();
    });
    expect(trickle).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('an answer may take longer than a request', async () => {
    const stream = await fetch(`${stage.parley.url}/api/events`);
    const reader = stream.body!.getReader();
    await reader.read();
    const silent = await Promise.race([
      reader.read().then(({ done }) => (done ? 'ended' : 'more')),
      new Promise((resolve) => setTimeout(() => resolve('open'), 5_000)),
    ]);
    // A heartbeat may come where this process stood still.
    expect(silent).not.toBe('ended');
    await reader.cancel();
  });
});

describe('a body that is too large', () => {
  // With the usual REQUEST_TIMEOUT: a busy client may take seconds to send a body.
  const patient = useStage({ env: { BODY_LIMIT: '64kb' } });

  it.each(['/api/workflows', '/api/workflows/x/run', '/api/workflows/x/runs', '/a2a', '/a2a/message:send'])(
    'is told at %s, also where its length was not said',
    async (path) => {
      const request = { method: 'POST', headers: { 'content-type': 'application/json' } };
      const body = ' '.repeat(100_000);
      const signal = AbortSignal.timeout(180_000);
      const known = await fetch(`${patient.parley.url}${path}`, { ...request, body, signal });
      expect(known.status).toBe(413);
      const stream = new Blob([body]).stream();
      const unknown = await fetch(`${patient.parley.url}${path}`, { ...request, body: stream, duplex: 'half', signal });
      expect(unknown.status).toBe(413);
    },
  );
});

describe('what browsers render', () => {
  it.each(['/', '/docs', '/docs-json', '/health/live', '/api/runs', '/nothing', '/a2a-x'])(
    '%s has headers for them',
    async (path) => {
      const { headers } = await fetch(`${stage.parley.url}${path}`, { redirect: 'manual' });
      expect(Object.fromEntries(headers)).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'SAMEORIGIN',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
      });
      expect(headers.get('x-powered-by')).toBeNull();
      expect(headers.get('server')).toBeNull();
    },
  );
});
