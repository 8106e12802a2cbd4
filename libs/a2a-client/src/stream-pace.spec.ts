import type { ServerResponse } from 'node:http';
import { OutboundHttp } from '#libs/http-client';
import { type StreamResponse, userMessage } from '#libs/protocol';
import { loadConfig } from '#libs/service';
import { WireAgent, type WireRequest } from '../../../test/support/wire-agent.js';
import { StreamPace } from './answer-limits.js';
import { HttpAgentDirectory } from './http-agent-directory.js';

/** Returns the times in milliseconds at which streams are opened, if each lasts `lasting` milliseconds. */
function openings(lasting: number, until: number): number[] {
  let now = 0;
  const pace = new StreamPace(() => now);
  const opened: number[] = [];
  while (now < until) {
    opened.push(now);
    pace.noteOpening();
    now += lasting;
    now += pace.nextPause();
  }
  return opened;
}

test.each([0, 1, 50, 1_000, 9_999])('a stream that ends after %d ms is opened ten times in 20 s at most', (lasting) => {
  const opened = openings(lasting, 300_000);
  const busiest = Math.max(...opened.map((from) => opened.filter((it) => it >= from && it < from + 20_000).length));
  expect(busiest).toBeLessThanOrEqual(10);
});

test('a Task is asked after for twelve seconds at short intervals, as long as a take-over may take', () => {
  expect(openings(0, 18_000)).toEqual([0, 100, 300, 700, 1_500, 3_100, 6_100, 9_100, 12_100, 17_100]);
});

test('a stream that lasted ten seconds is opened again at once', () => {
  const opened = openings(10_000, 100_000);
  expect(opened.slice(0, 3)).toEqual([0, 10_100, 20_200]);
});

const statusOf = (state: string): object => ({ taskId: 't', contextId: 'c', status: { state } });

test.each<[string, (response: ServerResponse, working: string) => void]>([
  [
    'end with news each',
    (response, working) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(working),
  ],
  [
    'break after news',
    (response, working) =>
      void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(working, () => response.destroy()),
  ],
  ['answer with HTTP 500', (response) => void response.writeHead(500).end()],
])('the streams of a Task that %s are opened at growing intervals', async (_, fail) => {
  const eventOf = ({ body }: WireRequest, state: string): string =>
    `data: ${JSON.stringify({ jsonrpc: '2.0', id: body?.id, result: { statusUpdate: statusOf(state) } })}\n\n`;
  const opened: number[] = [];
  const agent = await WireAgent.start({ streaming: true }, (response, request) => {
    const working = eventOf(request, 'TASK_STATE_WORKING');
    const sse = { 'content-type': 'text/event-stream' };
    if (request.body?.method !== 'SubscribeToTask') return void response.writeHead(200, sse).end(working);
    opened.push(performance.now());
    if (opened.length < 5) return fail(response, working);
    response.writeHead(200, sse).end(eventOf(request, 'TASK_STATE_COMPLETED'));
  });
  const http = new OutboundHttp(loadConfig({ HOST: '127.0.0.1', LOG_LEVEL: 'silent' }));
  const client = await new HttpAgentDirectory({ http }).resolveClient(agent.url);
  const events: StreamResponse[] = await Array.fromAsync(client.sendMessage({ message: userMessage('hello') }));
  expect(events.at(-1)).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } });
  expect(opened).toHaveLength(5);
  // A timer may fire a millisecond early; a slow machine is later.
  expect(opened[4]! - opened[0]!).toBeGreaterThan(1_450);
  await http.close();
  await agent.stop();
});
