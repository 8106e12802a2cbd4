// Calls an agent as one of several clients does (CLIENT), so many at once for so long as a request asks, and answers
// with what came of it.
import { createServer } from 'node:http';
import { summary } from '../../load/closed-loop.ts';
import { announce } from '../serve.ts';
import { callers } from './clients.ts';

const call = await callers[process.env.CLIENT ?? '']?.(process.env.AGENT_URL ?? '');
if (!call) throw new Error(`There is no client "${process.env.CLIENT}"`);

const server = createServer((request, response) => {
  const query = new URL(request.url ?? '', 'http://localhost').searchParams;
  request.resume();
  callFor(Number(query.get('inFlight')), Number(query.get('seconds'))).then(
    (result) => response.end(JSON.stringify(result)),
    (error: Error) => response.writeHead(500).end(String(error.stack)),
  );
});
announce(server.listen(0, '127.0.0.1'));

async function callFor(inFlight: number, seconds: number): Promise<object> {
  const latencies: number[] = [];
  const begun = performance.now();
  const until = begun + seconds * 1000;
  const loop = async (): Promise<void> => {
    for (let started = begun; started < until;) {
      const state = await call?.();
      if (state !== 'completed') throw new Error(`The agent answered ${state}`);
      const now = performance.now();
      latencies.push(now - started);
      started = now;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, loop));
  return summary(latencies, (performance.now() - begun) / 1000);
}
