import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { WebSocket } from 'ws';
import { sendTask } from '../../support/a2a.js';
import { apiKeyEnv, testCaller } from '../../support/callers.js';
import { metric } from '../../support/service-metrics.js';
import { useStage } from '../../support/stage.js';
import { takeTurns } from '../../support/turns.js';
import { until } from '../../support/until.js';
import { Api, echo, linear, unique } from '../../support/workflow.js';

takeTurns();

const MEBIBYTE = 1024 ** 2;
const HEAP_MIB = 256;
const [mallory, bob] = [testCaller('mallory'), testCaller('bob')];
const TEXT = 'x'.repeat(3_900_000);
const stage = useStage({
  env: { ...apiKeyEnv(mallory, bob), NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` },
});
let base: string;

beforeAll(async () => {
  const api = new Api(stage.parley.url, bob.headers);
  const { name } = await api.save(linear(unique('echo'), echo('echo')));
  base = api.base(name, 'echo');
});

/** Opens a stream of all of mallory's events that is never read. */
async function unreadStream(): Promise<Socket> {
  const { hostname, port, host } = new URL(stage.parley.url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  stage.defer(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(`GET /api/events HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${mallory.key}\r\n\r\n`);
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

describe('one large event that hundreds of streams show', () => {
  it('goes to them in turns, in a bounded part of the memory, and delays no other caller', async () => {
    await Promise.all([...Array.from({ length: 80 }, unreadStream), ...Array.from({ length: 20 }, unreadSocket)]);
    await sendTask(base, TEXT, { headers: mallory.headers });
    await until(async () => (await metric(stage.parley, 'parley_frames_waiting')) > 50, { what: 'frames that wait' });
    expect(await metric(stage.parley, 'parley_frame_bytes')).toBeLessThanOrEqual((HEAP_MIB + 96) * MEBIBYTE * (1 / 16));
    await sendTask(base, TEXT, { headers: bob.headers });
  });
});
