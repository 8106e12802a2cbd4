import type { Bench, Row } from '../comparison.ts';
import { A2A_HEADERS } from './a2a-requests.ts';
import { measureStreams, parleyStage } from './streams.ts';

const CLIENTS = 2_000;
const ROUNDS = 3;

const UPGRADE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

/**
 * Measures many clients of the event gateway, over both of its transports: the cost of each client, and the time until
 * all have received a frame.
 */
export async function gatewayCase(bench: Bench): Promise<Row[]> {
  const rows: (string | number)[][] = [];
  for (const [name, path, headers] of [
    ['WebSocket /events', '/events?streams=task', UPGRADE],
    ['SSE /api/events', '/api/events?streams=task', {}],
  ] as const) {
    const stage = await parleyStage(bench);
    const event = (number: number) => ({ ...stage.event(number), headers: A2A_HEADERS });
    const open = { method: 'GET' as const, path, body: '', headers, opened: '"hello"' };
    rows.push(await measureStreams(bench, { ...stage, name, open, event, count: CLIENTS, rounds: ROUNDS }));
    await stage.server.stop();
  }
  bench.table({
    title: 'Clients of the event gateway (delivery from the Message that causes the event to each client)',
    header: ['transport', 'clients', 'RSS kB/client', 'p50 ms', 'p99 ms', 'last ms', 'Node µs/delivery'],
    rows,
  });
  return [];
}
