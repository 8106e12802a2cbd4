import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { createClient, type ParleyClient } from './client.js';
import { ParleyError, ParleyUnreachable } from './parley-error.js';
import type { AnyRunEvent } from './run-event.js';
import { eventFrames, type EventFrame } from './run-follower.js';

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

let server: Server;
let handler: Handler;
let client: ParleyClient;
const asked: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      asked.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
      handler(request, response, body);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
});

beforeEach(() => {
  asked.length = 0;
  client = createClient({ url: `${urlOf(server)}/`, apiKey: 'secret' });
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

function urlOf(it: Server): string {
  return `http://127.0.0.1:${(it.address() as AddressInfo).port}`;
}

function json(response: ServerResponse, status: number, value: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}

function frame(sequence: number, type = 'node.started'): string {
  return `id: ${sequence}\nevent: ${type}\ndata: ${JSON.stringify({ sequence, type, runId: 'r' })}\n\n`;
}

async function sequences(events: AsyncIterable<AnyRunEvent>): Promise<number[]> {
  const found: number[] = [];
  for await (const { sequence } of events) found.push(sequence);
  return found;
}

describe('createClient', () => {
  it.each(['nope', '', '127.0.0.1:3000', 'ftp://127.0.0.1', 'http://me:secret@127.0.0.1'])(
    'refuses %j, which no service can have, and says nothing of it',
    (url) => {
      let error: unknown;
      try {
        createClient({ url });
      } catch (thrown) {
        error = thrown;
      }
      expect(error).toBeInstanceOf(ParleyError);
      expect(error).toMatchObject({ status: 0, reason: 'MALFORMED', message: expect.stringContaining('http://') });
      expect((error as ParleyError).message).not.toContain('secret');
    },
  );

  it.each(['bad\nsecret', '“secret”'])(
    'refuses the key %j, which no header carries, and says nothing of it',
    (apiKey) => {
      let error: unknown;
      try {
        createClient({ url: urlOf(server), apiKey });
      } catch (thrown) {
        error = thrown;
      }
      expect(error).toBeInstanceOf(ParleyError);
      expect(error).toMatchObject({ status: 0, reason: 'MALFORMED', message: expect.stringContaining('apiKey') });
      expect(inspect(error, { depth: null })).not.toContain('secret');
    },
  );

  it('takes a key as it was read from a file', async () => {
    handler = (_, response) => json(response, 200, { runId: 'r' });
    await createClient({ url: urlOf(server), apiKey: 'secret\n' }).get('r');
    expect(asked[0]?.headers.authorization).toBe('Bearer secret');
  });

  it('starts a run under a key, the same one however often it has to ask', async () => {
    let tries = 0;
    handler = (_, response) => {
      tries += 1;
      if (tries === 1) response.destroy();
      else if (tries === 2) json(response, 503, { detail: 'not now' }, { 'retry-after': '0' });
      else json(response, 202, { runId: 'r' });
    };
    expect(await client.run('a b', { topic: 'tea' })).toEqual({ runId: 'r' });
    expect(asked.map(({ url }) => url)).toEqual(Array.from({ length: 3 }, () => '/api/workflows/a%20b/runs'));
    expect(new Set(asked.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect(asked[0]).toMatchObject({
      method: 'POST',
      headers: { authorization: 'Bearer secret' },
      body: '{"inputs":{"topic":"tea"}}',
    });
    await client.run('w', {}, { idempotencyKey: 'mine' });
    expect(asked.at(-1)?.headers['idempotency-key']).toBe('mine');
  });

  it('does not say twice what may be done twice', async () => {
    handler = (_, response) => json(response, 503, { detail: 'not now', reason: 'UNAVAILABLE' });
    const answer = client.answer('r', { node: 'gate', parts: [{ text: 'yes' }] });
    await expect(answer).rejects.toMatchObject({ status: 503, reason: 'UNAVAILABLE', message: 'not now' });
    expect(asked).toHaveLength(1);
  });

  it('says a cancel again: a run that is canceled answers as it did', async () => {
    handler = (request, response) => {
      if (asked.length === 1) request.socket.destroy();
      else if (asked.length === 2) json(response, 503, { detail: 'not now' }, { 'retry-after': '0' });
      else json(response, 200, { runId: 'r', status: 'canceled', children: [] });
    };
    expect(await client.cancel('r')).toMatchObject({ status: 'canceled' });
    expect(asked.map(({ method, url }) => `${method} ${url}`)).toEqual(Array(3).fill('POST /api/runs/r/cancel'));
  });

  it('tells what was refused, by reason and entry', async () => {
    const errors = [{ path: 'inputs.topic', detail: 'is missing', code: 'MISSING_INPUT' }];
    handler = (_, response) =>
      json(response, 422, { detail: 'inputs.topic is missing', reason: 'MISSING_INPUT', errors, requestId: 'q' });
    const refused = await client.run('w').catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ParleyError);
    expect(refused).toMatchObject({ status: 422, reason: 'MISSING_INPUT', errors, requestId: 'q' });
    handler = (_, response) => response.writeHead(404).end('<html>');
    await expect(client.get('r')).rejects.toMatchObject({ status: 404, reason: 'UNKNOWN' });
  });

  it('says that nobody answers', async () => {
    const lost = createClient({
      url: 'http://127.0.0.1:9',
      fetch: () => Promise.reject(new TypeError('fetch failed')),
    });
    await expect(lost.answer('r', { node: 'n', parts: [] })).rejects.toBeInstanceOf(ParleyUnreachable);
    const gone = createServer();
    await new Promise<void>((listening) => gone.listen(0, '127.0.0.1', listening));
    const none = createClient({ url: urlOf(gone) });
    await new Promise((closed) => gone.close(closed));
    const refused = none.call('/api/apply', { method: 'POST', body: {} });
    await expect(refused).rejects.toThrow('cannot be reached (ECONNREFUSED)');
  });

  it('says that something else answers, and that an answer broke off', async () => {
    handler = (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
    const foreign = { status: 200, reason: 'UNKNOWN', message: expect.stringContaining('is there a Parley') };
    await expect(client.get('r')).rejects.toMatchObject(foreign);
    await expect(sequences(client.events('r'))).rejects.toMatchObject(foreign);
    await expect(sequences(client.events('r', { live: false }))).rejects.toMatchObject(foreign);
    handler = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '99' });
      response.write('{"runId"', () => response.destroy());
    };
    await expect(client.get('r')).rejects.toBeInstanceOf(ParleyUnreachable);
  });

  it('follows a run past a service that is busy for longer than a request waits', async () => {
    let asks = 0;
    handler = (_, response) => {
      asks += 1;
      if (asks <= 7) json(response, 503, { detail: 'not now' }, { 'retry-after': '0' });
      else response.writeHead(200, { 'content-type': 'text/event-stream' }).end(frame(1, 'done'));
    };
    expect(await sequences(client.events('r'))).toEqual([1]);
  });

  it('reads a stream that is cut twenty times: each event once, in order', async () => {
    const last = 60;
    handler = (request, response) => {
      const since = Number(new URL(request.url ?? '', 'http://x').searchParams.get('since'));
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      // What was said already is said again, and the last frame is cut in the middle.
      for (let number = Math.max(1, since); number <= Math.min(since + 3, last); number += 1) {
        response.write(frame(number, number === last ? 'done' : 'node.started'));
      }
      response.write(': keep-alive\n\n');
      response.write('id: 99\ndata: {"seq', () => response.destroy());
    };
    expect(await sequences(client.events('r'))).toEqual(Array.from({ length: last }, (_, index) => index + 1));
    expect(asked.length).toBeGreaterThanOrEqual(20);
    expect(await sequences(client.events('r', { since: 58 }))).toEqual([59, 60]);
  });

  it('reads frames however they are cut into pieces', async () => {
    const text = `${frame(1)}${frame(2).replaceAll('\n', '\r\n')}data: {"sequence":3,\ndata: "type":"done"}\nid: 3\n\n`;
    handler = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const letters = [...text];
      const write = (): void => {
        const letter = letters.shift();
        if (letter === undefined) response.end();
        else response.write(letter, () => setImmediate(write));
      };
      write();
    };
    expect(await sequences(client.events('r'))).toEqual([1, 2, 3]);
  });

  it('ends a stream that its reader leaves, or whose signal is aborted', async () => {
    const closed = Promise.withResolvers<void>();
    handler = (request, response) => {
      request.on('close', () => closed.resolve());
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(frame(1));
    };
    for await (const event of client.events('r')) {
      expect(event.sequence).toBe(1);
      break;
    }
    await closed.promise;
    const stop = new AbortController();
    const reading = (async () => {
      for await (const event of client.events('r', { signal: stop.signal }))
        stop.abort(new Error(`at ${event.sequence}`));
    })();
    await expect(reading).rejects.toThrow('at 1');
  });

  it('ends where its reader has seen the end before, and not where a stream without news just ends', async () => {
    let connections = 0;
    handler = ({ url = '' }, response) => {
      if (!url.includes('/events'))
        return json(response, 200, { runId: 'r', status: connections > 1 ? 'failed' : 'running' });
      connections += url.includes('live=false') ? 0 : 1;
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end();
    };
    expect(await sequences(client.events('r', { since: 7 }))).toEqual([]);
    expect(connections).toBe(2);
  });

  it('misses nothing of a run that ends when it looks whether it has', async () => {
    let connections = 0;
    handler = ({ url = '' }, response) => {
      if (!url.includes('/events')) return json(response, 200, { runId: 'r', status: 'completed' });
      connections += 1;
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(connections === 1 ? '' : frame(8) + frame(9, 'done'));
    };
    expect(await sequences(client.events('r', { since: 7 }))).toEqual([8, 9]);
  });

  it('says when a connection is open, and when it has ended before the run', async () => {
    handler = (_, response) => {
      const next = asked.length === 1 ? frame(1) : frame(2, 'done');
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(next);
    };
    const seen: (boolean | number)[] = [];
    const events = client.events('r', { onConnection: (isOpen) => void seen.push(isOpen) });
    for await (const { sequence } of events) seen.push(sequence);
    expect(seen).toEqual([true, 1, false, true, 2]);
  });

  it('waits for the end of a run', async () => {
    let ended = false;
    handler = ({ url }, response) => {
      if (url?.includes('/events') === true) {
        ended = true;
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(frame(1, 'done'));
      } else json(response, 200, { runId: 'r', status: ended ? 'failed' : 'running' });
    };
    expect(await client.wait('r')).toMatchObject({ status: 'failed' });
  });

  it('gives up where the run is not there', async () => {
    handler = (_, response) => json(response, 404, { detail: 'run not found', reason: 'NOT_FOUND' });
    await expect(sequences(client.events('nope'))).rejects.toMatchObject({ status: 404 });
    expect(asked).toHaveLength(1);
  });
});

describe('eventFrames', () => {
  const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

  async function read(...pieces: Uint8Array[]): Promise<EventFrame[]> {
    return Array.fromAsync(eventFrames(ReadableStream.from(pieces)));
  }

  it.each(['\n', '\r\n', '\r'])('reads events with the line end %j, wherever the pieces are cut', async (end) => {
    const text = '\uFEFFid: 1\nevent: a\ndata: {"x":"ä😀"}\n\n: beat\n\ndata: two\ndata: lines\nid:2\n\ndata\n\n.';
    const bytes = encode(text.replaceAll('\n', end));
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      expect({ cut, frames: await read(bytes.slice(0, cut), bytes.slice(cut)) }).toEqual({
        cut,
        frames: [
          { id: '1', event: 'a', data: '{"x":"ä😀"}' },
          { id: '2', event: 'message', data: 'two\nlines' },
          { id: '', event: 'message', data: '' },
        ],
      });
    }
  });

  it('drops an event that is not complete', async () => {
    expect(await read(encode('id: 1\ndata: {}\n'))).toEqual([]);
    expect(await read(encode('data: 1\n\nid: 2\ndata: {"se'))).toMatchObject([{ data: '1' }]);
  });

  it('ends, and closes the stream, after the longest silence', async () => {
    const closed = Promise.withResolvers<void>();
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(encode('data: 1\n\n')),
      cancel: () => closed.resolve(),
    });
    expect(await Array.fromAsync(eventFrames(body, { longestSilence: 1 }))).toMatchObject([{ data: '1' }]);
    await closed.promise;
  });
});
