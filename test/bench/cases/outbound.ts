import { type Bench, compare, type Row, type Subject } from '../comparison.ts';
import type { LoadResult } from '../load/closed-loop.ts';
import { type BenchServer, startPeer } from '../servers/bench-server.ts';
import { PARLEY_CLIENT, UNDICI_FLOOR } from './subject-names.ts';

const IN_FLIGHT = 32;
const CLIENTS: Record<string, string> = {
  'parley-resolved': PARLEY_CLIENT,
  'parley-kept': "Parley's client, kept",
  'sdk-resolved': "SDK's client, card resolved for each call",
  'sdk-kept': "SDK's client, kept",
  fetch: 'bare global fetch',
  undici: UNDICI_FLOOR,
};

/** Measures the cost of a call to another agent for the calling process. */
export async function outboundCase(bench: Bench): Promise<Row[]> {
  const agent = await bench.using(startPeer('outbound/agent.ts'));
  const subjects = await Promise.all(
    Object.entries(CLIENTS).map(async ([client, name]): Promise<Subject> => {
      const server = await bench.using(startPeer('outbound/caller.ts', { CLIENT: client, AGENT_URL: agent.url }));
      return { name, server, drive: (inFlight, seconds) => drive(server, inFlight, seconds) };
    }),
  );
  return compare(bench, {
    id: 'outbound',
    title: 'Outbound: blocking SendMessage to another agent, "at" is calls in flight',
    unit: 'call',
    connections: [IN_FLIGHT],
    subjects,
  });
}

async function drive(server: BenchServer, inFlight: number, seconds: number): Promise<LoadResult> {
  const answer = await fetch(`${server.url}/?inFlight=${inFlight}&seconds=${seconds}`, { method: 'POST' });
  if (answer.status !== 200) throw new Error(await answer.text());
  return (await answer.json()) as LoadResult;
}
