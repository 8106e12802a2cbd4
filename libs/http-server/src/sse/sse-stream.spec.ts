import { jest } from '@jest/globals';
import { EventEmitter, once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { LoopShares, Metrics, WorkTurns } from '#libs/service';
import { FrameRoom } from '../answers/frame-room.js';
import { PassingText, SseStream, type SseStreamOptions } from './sse-stream.js';

const MEGABYTE = 'x'.repeat(1024 ** 2);
let server: Server;

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

describe('SseStream', () => {
  it('sends headers at once and frames in order', async () => {
    const { stream, reader } = await open();
    expect(reader.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
      connection: 'keep-alive',
      'x-extra': '1',
    });
    void stream.sendFrame({ id: 1, data: 'a' });
    await stream.sendFrame({ id: 2, data: 'b' });
    stream.endStream();
    expect(await textOf(reader)).toBe('id: 1\ndata: a\n\nid: 2\ndata: b\n\n');
    if (!stream.closed.aborted) await once(stream.closed, 'abort');
    await expect(stream.sendFrame({ data: 'too late' })).resolves.toBeUndefined();
  });

  it('sends a comment when it has been silent', async () => {
    const { reader } = await open({ heartbeatMs: 20 });
    const [chunk] = (await once(reader, 'data')) as [Buffer];
    expect(chunk.toString()).toBe(': keep-alive\n\n');
  });

  it('tells that the reader has gone, and then ignores what is sent', async () => {
    const { stream, reader } = await open();
    const closed = once(stream.closed, 'abort');
    reader.destroy();
    await closed;
    await expect(stream.sendFrame({ data: 'x' })).resolves.toBeUndefined();
    expect(() => stream.endStream()).not.toThrow();
  });

  it('waits for a slow reader, then goes on in order', async () => {
    const { stream, reader, response } = await open();
    let sent = 0;
    const sending = (async () => {
      for (; sent < 40; sent += 1) await stream.sendFrame({ id: sent, data: MEGABYTE });
      stream.endStream();
    })();
    while (!response.writableNeedDrain) await turn();
    for (let turns = 0; turns < 10; turns += 1) await turn();
    expect(sent).toBeLessThan(40);
    expect(response.writableLength).toBeLessThan(3 * MEGABYTE.length);
    const text = await textOf(reader);
    await sending;
    expect(text.match(/^id: \d+$/gm)).toEqual(Array.from({ length: 40 }, (_, n) => `id: ${n}`));
  });

  it('cuts a reader that takes nothing', async () => {
    const { stream } = await open({ drainTimeoutMs: 50 });
    for (let sent = 0; sent < 100 && !stream.closed.aborted; sent += 1) await stream.sendFrame({ data: MEGABYTE });
    expect(stream.closed.aborted).toBe(true);
  });

  it('keeps a reader that takes a little of a large frame each time', () => {
    jest.useFakeTimers();
    try {
      const socket = { bytesWritten: 0, writableLength: 0 };
      const destroy = jest.fn();
      const raw = Object.assign(new EventEmitter(), {
        socket,
        destroy,
        writeHead: () => undefined,
        end: () => undefined,
      });
      const stream = new SseStream(raw as unknown as ServerResponse, { drainTimeoutMs: 1_000 });
      stream.endStream();
      for (let taken = 1; taken <= 10; taken += 1) {
        jest.advanceTimersByTime(500);
        socket.bytesWritten = taken;
        jest.advanceTimersByTime(500);
      }
      expect(destroy).not.toHaveBeenCalled();
      jest.advanceTimersByTime(1_000);
      expect(destroy).toHaveBeenCalled();
    } finally {
      jest.useRealTimers();
    }
  });

  it('puts a large frame together when there is room for it, for one reader after the other', async () => {
    const { stream, reader, response } = await open();
    const other = await another();
    const room = roomOf(2 * MEGABYTE.length);
    // More than the kernel takes: the reader has to take it.
    const large = MEGABYTE.repeat(16);
    const sending = stream.sendFrame({ id: 1, data: large });
    let made = 0;
    const data = new PassingText(large.length, () => {
      made += 1;
      return large;
    });
    const late = other.stream.sendFrame({ id: 1, data });
    while (!response.writableNeedDrain) await turn();
    for (let turns = 0; turns < 10; turns += 1) await turn();
    expect([made, other.response.writableLength]).toEqual([0, 0]);
    expect(room.taken).toBe(2 * MEGABYTE.length);
    const texts = Promise.all([textOf(reader), textOf(other.reader)]);
    await sending;
    await late;
    expect([made, room.taken]).toEqual([1, 0]);
    stream.endStream();
    other.stream.endStream();
    const frame = `id: 1\ndata: ${large}\n\n`;
    expect((await texts).map((text) => text === frame)).toEqual([true, true]);
  });

  it('ends where a large frame finds no room in time, after what was sent before it', async () => {
    const { stream, reader } = await open();
    const { enter } = roomOf(100, 20);
    const leave = await enter(100);
    void stream.sendFrame({ id: 1, data: 'small' });
    await stream.sendFrame({ id: 2, data: MEGABYTE });
    expect(await textOf(reader)).toBe('id: 1\ndata: small\n\n');
    leave();
  });

  it('cuts a reader for whom a caller lets too much wait', async () => {
    const { stream } = await open();
    const sends = Array.from({ length: 1_200 }, () => stream.sendFrame({ data: MEGABYTE.slice(0, 100_000) }));
    await Promise.all(sends);
    expect(stream.closed.aborted).toBe(true);
  });
});

/**
 * Gives the server's streams a FrameRoom of `answerBytes` bytes.
 * @returns the number of bytes that its frames hold (`taken`), and a function that takes room for a frame (`enter`)
 */
function roomOf(
  answerBytes: number,
  waitMs?: number,
): { taken: number; enter: (bytes: number) => Promise<() => void> } {
  const metrics = new Metrics();
  const turns = new WorkTurns(new LoopShares(metrics));
  const room = new FrameRoom({ memory: { answerBytes } } as never, metrics, turns, waitMs);
  room.serveStreams(server, () => NOBODY);
  return {
    get taken() {
      return room.taken;
    },
    enter: (bytes) => room.enterFrame(bytes, NOBODY),
  };
}

const NOBODY = { tenant: '', owner: '' };

interface Opened {
  stream: SseStream;
  response: ServerResponse;
  reader: IncomingMessage;
}

let opened: EventEmitter<{ stream: [SseStream, ServerResponse] }>;

async function open(options: SseStreamOptions = {}): Promise<Opened> {
  opened = new EventEmitter();
  server = createServer((_request, response: ServerResponse) => {
    opened.emit('stream', new SseStream(response, { headers: { 'x-extra': '1' }, ...options }), response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return another();
}

/** Opens one more stream of the same server, with its reader. */
async function another(): Promise<Opened> {
  const answered = once(get({ port: (server.address() as AddressInfo).port, agent: false }), 'response');
  const [stream, response] = (await once(opened, 'stream')) as [SseStream, ServerResponse];
  const [reader] = (await answered) as [IncomingMessage];
  reader.on('error', () => undefined);
  return { stream, response, reader };
}

async function textOf(reader: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of reader) text += String(chunk);
  return text;
}
