import { once } from 'node:events';
import { constants, createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { withoutStandstill } from '../../../test/support/without-standstill.js';
import { callGrpc, type GrpcCall } from './grpc-client.js';
import { AddressGuard, StandstillWatch } from './guarded-agent.js';
import { SharedConnections, type SharedConnectionLimits } from './shared-connections.js';

const OK = { 'grpc-status': '0' };
const HEAD = { ':status': 200, 'content-type': 'application/grpc' };

function frame(text: string, flag = 0): Buffer {
  const bytes = Buffer.from(text);
  const prefix = Buffer.from([flag, 0, 0, 0, 0]);
  prefix.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([prefix, bytes]);
}

/** Answers with pieces of bytes, then with trailers. */
function answer(stream: ServerHttp2Stream, pieces: Buffer[], trailers: Record<string, string> = OK): void {
  stream.respond(HEAD, { waitForTrailers: true });
  stream.on('wantTrailers', () => {
    if (!stream.closed && !stream.destroyed) stream.sendTrailers(trailers);
  });
  for (const piece of pieces) stream.write(piece);
  stream.end();
}

describe('callGrpc', () => {
  const watch = new StandstillWatch();
  const sessions: ServerHttp2Session[] = [];
  let server: Http2Server;
  let connections: SharedConnections;

  async function serve(
    onStream: (stream: ServerHttp2Stream, index: number) => void,
    limits: Partial<SharedConnectionLimits> = {},
    maxConcurrentStreams = 100,
  ): Promise<void> {
    let streams = 0;
    server = createServer({ settings: { maxConcurrentStreams } });
    server.on('session', (session) => sessions.push(session));
    server.on('stream', (stream) => {
      stream.on('error', () => undefined);
      onStream(stream, streams);
      streams += 1;
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    connections = new SharedConnections(new AddressGuard({ allow: [], loopback: true }), watch, limits);
  }

  function call(options: Partial<GrpcCall> = {}): AsyncIterable<Uint8Array> {
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const base = { url, path: '/a.B/C', metadata: { 'x-a': 'b' }, message: Buffer.from('request'), maxBytes: 1_000 };
    return callGrpc(connections, { ...base, ...options });
  }

  async function texts(options?: Partial<GrpcCall>): Promise<string[]> {
    const all: string[] = [];
    for await (const message of call(options)) all.push(Buffer.from(message).toString());
    return all;
  }

  afterEach(async () => {
    connections.close();
    for (const session of sessions.splice(0)) session.destroy();
    server.close();
    await once(server, 'close');
  });
  afterAll(() => watch.stop());

  it('sends no message if its gate throws, and uses the connection for the next call', async () => {
    const received: string[] = [];
    await serve((stream) => {
      stream.on('data', (piece) => received.push(String(piece)));
      answer(stream, [frame('fine')]);
    });
    const closed = new Error('closed');
    const gate = (): never => {
      throw closed;
    };
    const added = await withoutStandstill(watch, async () => {
      await expect(texts({ gate, message: Buffer.from('never') })).rejects.toBe(closed);
      const before = sessions.length;
      expect(await texts({ gate: () => undefined })).toEqual(['fine']);
      return sessions.length - before;
    });
    expect([received.join('').includes('never'), added]).toEqual([false, 0]);
  });

  it('sends one message with metadata and a deadline, and yields messages however they are cut', async () => {
    const seen = Promise.withResolvers<{ headers: Record<string, unknown>; body: Buffer }>();
    await serve((stream) =>
      answer(
        stream,
        [...Buffer.concat(['a', '', 'bcd'].map((it) => frame(it)))].map((it) => Buffer.from([it])),
      ),
    );
    server.on('stream', (stream, headers) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => seen.resolve({ headers, body: Buffer.concat(chunks) }));
    });
    expect(await texts({ deadlineMs: 1_500 })).toEqual(['a', '', 'bcd']);
    const { headers, body } = await seen.promise;
    expect(body).toEqual(frame('request'));
    expect(headers).toMatchObject({ ':path': '/a.B/C', te: 'trailers', 'x-a': 'b', 'grpc-timeout': '1500m' });
  });

  it('counts every piece before it is kept, and reports what is pending', async () => {
    await serve((stream) => answer(stream, [frame('abc'), frame('de')]));
    let read = 0;
    const pending: number[] = [];
    await texts({ countRead: (bytes) => void (read += bytes), setPending: (bytes) => pending.push(bytes) });
    expect(read).toBe(frame('abc').length + frame('de').length);
    expect(pending.at(-1)).toBe(0);
  });

  it.each<[string, (stream: ServerHttp2Stream) => void, object]>([
    [
      'a status in trailers',
      (it) =>
        answer(it, [], { 'grpc-status': '5', 'grpc-message': 'no%20such%20Task', 'grpc-status-details-bin': 'AAE' }),
      { name: 'GrpcStatusError', status: 5, text: 'no such Task', details: Buffer.from([0, 1]) },
    ],
    [
      'a status without a body',
      (it) => it.respond({ ...HEAD, 'grpc-status': '14', 'grpc-message': '%' }, { endStream: true }),
      { name: 'GrpcStatusError', status: 14, text: '%' },
    ],
    ['a status that is no number', (it) => answer(it, [], { 'grpc-status': 'x' }), { status: 2 }],
    [
      'HTTP 503',
      (it) => it.respond({ ':status': 503, 'retry-after': '3' }),
      { name: 'GrpcHttpError', status: 503, retryAfter: '3' },
    ],
    [
      'a page',
      (it) => (it.respond({ ':status': 200, 'content-type': 'text/html' }), it.end('<html>')),
      { kind: 'invalid' },
    ],
    ['no status', (it) => (it.respond(HEAD), it.end(frame('a'))), { kind: 'interrupted' }],
    ['a reset', (it) => it.close(constants.NGHTTP2_INTERNAL_ERROR), { kind: 'interrupted' }],
    ['a reset that asks for calm', (it) => it.close(constants.NGHTTP2_ENHANCE_YOUR_CALM), { status: 8 }],
    [
      'a compressed message',
      (it) => answer(it, [frame('a', 1)]),
      { kind: 'invalid', message: expect.stringContaining('compressed') },
    ],
    ['a message that is too long', (it) => answer(it, [frame('x'.repeat(1_001))]), { kind: 'too-long' }],
    [
      'the length of one',
      (it) => (it.respond(HEAD), it.write(frame('x'.repeat(1_001)).subarray(0, 5))),
      { kind: 'too-long' },
    ],
  ])('fails for %s', async (_what, onStream, failure) => {
    await serve(onStream);
    await expect(texts()).rejects.toMatchObject(failure);
  });

  it('fails for a status that comes before the request is read', async () => {
    await serve((stream) => stream.respond({ ...HEAD, 'grpc-status': '8' }, { endStream: true }));
    await expect(texts({ message: Buffer.alloc(1024 ** 2) })).rejects.toMatchObject({ status: 8 });
  });

  it('cancels the call of a reader that stops, and of a signal that aborts', async () => {
    const resets: Promise<unknown>[] = [];
    await serve((stream) => {
      stream.respond(HEAD);
      stream.write(frame('a'));
      resets.push(once(stream, 'close').then(() => stream.rstCode));
    });
    const added = await withoutStandstill(watch, async () => {
      for await (const message of call()) {
        expect(Buffer.from(message).toString()).toBe('a');
        break;
      }
      const before = sessions.length;
      const abort = new AbortController();
      const reading = texts({ signal: abort.signal, alive: () => abort.abort(new Error('enough')) });
      await expect(reading).rejects.toThrow('enough');
      return sessions.length - before;
    });
    expect(new Set(await Promise.all(resets))).toEqual(new Set([constants.NGHTTP2_CANCEL]));
    expect([resets.length % 2, added]).toEqual([0, 0]);
  });

  it('repeats a call that the server refuses to process, and only that', async () => {
    await serve((stream, index) => {
      if (index === 0) stream.close(constants.NGHTTP2_REFUSED_STREAM);
      else answer(stream, [frame(`${index}`)]);
    });
    expect(await texts()).toEqual(['1']);
  });

  it('makes another connection where the server permits no further call on the first, up to a limit', async () => {
    const open: ServerHttp2Stream[] = [];
    const two = Promise.withResolvers<void>();
    await serve((stream) => open.push(stream) === 2 && two.resolve(), { mostOfServer: 2 }, 1);
    const calls = [texts(), texts()];
    await two.promise;
    expect(connections.size).toBe(2);
    await expect(texts()).rejects.toMatchObject({ kind: 'overloaded' });
    for (const stream of open) answer(stream, []);
    expect(await Promise.all(calls)).toEqual([[], []]);
    expect(
      await Promise.race([texts(), once(server, 'stream').then(([stream]) => (answer(stream, []), 'called'))]),
    ).toBe('called');
  });

  it('fails where the server permits no calls at all', async () => {
    await serve(() => undefined, {}, 0);
    await expect(texts()).rejects.toMatchObject({ kind: 'connect' });
  });

  it('closes a connection that has had no call for a while', async () => {
    await serve((stream) => answer(stream, []), { idleMs: 1 });
    await texts();
    await once(sessions[0]!, 'close');
    await texts();
    expect(sessions).toHaveLength(2);
  });

  it('finds a server that answers no pings, and tells of one that does', async () => {
    await serve((stream) => stream.respond(HEAD), { pingMs: 5, pingAnswerMs: 60_000 });
    const abort = new AbortController();
    const alive = texts({ signal: abort.signal, alive: () => abort.abort(new Error('alive')) });
    await expect(alive).rejects.toThrow('alive');
    connections.close();
    connections = new SharedConnections(new AddressGuard({ allow: [], loopback: true }), watch, {
      pingMs: 5,
      pingAnswerMs: 0,
    });
    await expect(texts()).rejects.toMatchObject({ kind: 'interrupted' });
  });

  it.each(['http://127.0.0.1:1', 'http://localhost:1', 'https://[::1]:1', 'http://169.254.169.254'])(
    'refuses %s, whose address is not public',
    async (url) => {
      await serve((stream) => answer(stream, []));
      const strict = new SharedConnections(new AddressGuard({ allow: [], loopback: false }), watch);
      const messages = callGrpc(strict, {
        url: new URL(url),
        path: '/a',
        metadata: {},
        message: Buffer.alloc(0),
        maxBytes: 1,
      });
      await expect(messages[Symbol.asyncIterator]().next()).rejects.toMatchObject({ kind: 'refused' });
      expect(strict.size).toBe(0);
    },
  );

  it('fails before anything is sent where the server does not speak HTTP/2', async () => {
    await serve(() => undefined, { connectMs: 5_000 });
    const { createServer: createHttp } = await import('node:http');
    const http = createHttp((_request, response) => void response.end()).listen(0, '127.0.0.1');
    await once(http, 'listening');
    const url = new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}`);
    await expect(texts({ url })).rejects.toMatchObject({ kind: 'connect' });
    http.closeAllConnections();
    http.close();
  });
});
