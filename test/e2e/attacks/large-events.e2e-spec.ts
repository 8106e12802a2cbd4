import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { WebSocket } from 'ws';
import { sendTask } from '../../support/a2a.js';
import { apiKeyEnv, type TestCaller, testCaller } from '../../support/callers.js';
import { metric } from '../../support/service-metrics.js';
import { useStage } from '../../support/stage.js';
import { takeTurns } from '../../support/turns.js';
import { until } from '../../support/until.js';
import { Api, echo, linear, unique } from '../../support/workflow.js';

takeTurns();

const MEBIBYTE = 1024 ** 2;
const HEAP_MIB = 256;
const [mallory, eve, bob] = [testCaller('mallory'), testCaller('eve'), testCaller('bob')];
const TEXT = 'x'.repeat(3_900_000);
/** Together they are several times what the buffers of a connection take unread, 4 MB by default on Linux. */
const TEXTS = 4;
const stage = useStage({
  env: { ...apiKeyEnv(mallory, eve, bob), NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` },
});
let base: string;

beforeAll(async () => {
  const api = new Api(stage.parley.url, bob.headers);
  const { name } = await api.save(linear(unique('echo'), echo('echo')));
  base = api.base(name, 'echo');
});

/** Opens a stream of all of a caller's events, of which only the first is read. */
async function unreadStream({ key }: TestCaller): Promise<Socket> {
  const { hostname, port, host } = new URL(stage.parley.url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  stage.defer(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(`GET /api/events HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  await once(socket, 'data');
  socket.pause();
  return socket;
}

/** The same over a WebSocket. */
async function unreadSocket(): Promise<void> {
  const client = new WebSocket(`${stage.parley.url.replace('http', 'ws')}/events`, { headers: mallory.headers });
  client.on('error', () => undefined);
  stage.defer(() => client.terminate());
  await once(client, 'message');
  client.pause();
}

describe('large events that a hundred streams show', () => {
  it('goes to them in turns, in a bounded part of the memory, and delays no other caller', async () => {
    await Promise.all([
      ...Array.from({ length: 80 }, () => unreadStream(mallory)),
      ...Array.from({ length: 20 }, unreadSocket),
    ]);
    const seen = new Set<number>();
    const waiting = async (): Promise<number> => metric(stage.parley, 'parley_frames_waiting');
    const send = async (): Promise<void> => {
      for (let sent = 0; sent < TEXTS; sent += 1) await sendTask(base, TEXT, { headers: mallory.headers });
    };
    // They wait until the streams that take nothing are cut, which may be before the last Task has been answered.
    const manyWait = until(async () => seen.add(await waiting()) && Math.max(...seen) > 50, {
      what: () => `more than 50 frames that wait; ${[...seen].join(', ')} waited`,
    });
    await Promise.all([send(), manyWait]);
    expect(await metric(stage.parley, 'parley_frame_bytes')).toBeLessThanOrEqual((HEAP_MIB + 96) * MEBIBYTE * (1 / 16));
    await sendTask(base, TEXT, { headers: bob.headers });
  });

  it('is kept by none of them that has sent it and waits for the next one', async () => {
    const bytes = new Map<Socket, number>();
    const streams = await Promise.all(Array.from({ length: 100 }, () => unreadStream(eve)));
    for (const stream of streams)
      stream.on('data', (chunk: Buffer) => bytes.set(stream, (bytes.get(stream) ?? 0) + chunk.length)).resume();
    await sendTask(base, TEXT, { headers: eve.headers });
    const has = (stream: Socket): boolean => (bytes.get(stream) ?? 0) > TEXT.length;
    // Where this takes longer than a frame waits for room, the rest of the streams end, and are to come again.
    const isServed = (stream: Socket): boolean => has(stream) || stream.closed;
    await until(() => streams.every(isServed), { what: 'the event, or the end, of all streams' });
    expect(streams.filter(has).length).toBeGreaterThan(0);
    await sendTask(base, TEXT, { headers: bob.headers });
  });
});
