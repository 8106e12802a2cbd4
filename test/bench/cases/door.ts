import { type Bench, compare, type Row, type Subject } from '../comparison.ts';
import type { RequestTemplate } from '../load/closed-loop.ts';
import { startParley, startPeer } from '../servers/bench-server.ts';
import { rpc, userMessage } from './a2a-requests.ts';
import { LITELLM_HEADERS, LITELLM_PATH, startLiteLlm } from '../servers/litellm.ts';
import { AGENT_ITSELF, DOOR, LITELLM, RELAY_FLOOR } from './subject-names.ts';

export const DOOR_PATH = '/a2a/agents/echo';
/** Number of concurrent streams of chunks. */
const READERS = 4;

/**
 * Measures the cost of a registered agent. The same Messages are sent directly to an agent on the official SDK, which
 * keeps all in memory; to Parley, which stores each Message and event on disk before it passes them on; for single
 * answers to a floor, which stores as much and does nothing else; and, if it can be installed, to LiteLLM, a gateway
 * that stores nothing.
 */
export async function doorCase(bench: Bench): Promise<Row[]> {
  const { postgres, options } = bench;
  const [agent, parley] = await Promise.all([
    bench.using(startPeer('sdk-memory.ts')),
    bench.using(startParley(await postgres.database('parley'))),
  ]);
  await registerAgent(parley.url, agent.url);
  const floor = await bench.using(
    startPeer('stored-relay.ts', { DATABASE_URL: await postgres.database('floor'), AGENT_URL: `${agent.url}/` }),
  );
  bench.progress('LiteLLM is being installed …');
  const gateway = await startLiteLlm(`${agent.url}/`);
  if (typeof gateway === 'string') bench.note(gateway);
  else await bench.using(Promise.resolve(gateway));
  const throughGateway = (template: RequestTemplate, units: number): Subject[] =>
    typeof gateway === 'string' ? [] : [{ name: LITELLM, server: gateway, template: withKey(template), units }];
  const subjects = (template: (path: string) => RequestTemplate, units = 1): Subject[] => [
    { name: AGENT_ITSELF, server: agent, template: template('/'), units },
    { name: DOOR, server: parley, postgres, template: template(DOOR_PATH), units },
    ...throughGateway(template(LITELLM_PATH), units),
  ];
  const single = (path: string): RequestTemplate => rpc(path, 'SendMessage', userMessage(), 'TASK_STATE_COMPLETED');
  const sent = await compare(bench, {
    id: 'door-send',
    title: 'SendMessage, blocking, 4 events',
    unit: 'request',
    connections: options.connections,
    subjects: [...subjects(single), { name: RELAY_FLOOR, server: floor, postgres, template: single('/') }],
  });
  const { few } = options.chunks;
  const streamed = await compare(bench, {
    id: 'door-stream',
    title: `SendStreamingMessage, ${few} chunks (p50 and p99 of a whole Task)`,
    unit: 'chunk',
    connections: [1, READERS],
    subjects: subjects(
      (path) => rpc(path, 'SendStreamingMessage', userMessage(`chunks ${few}`), 'TASK_STATE_COMPLETED'),
      few,
    ),
  });
  return [...sent, ...streamed];
}

function withKey(template: RequestTemplate): RequestTemplate {
  return { ...template, headers: { ...template.headers, ...LITELLM_HEADERS } };
}

export async function registerAgent(url: string, agentUrl: string, policy = {}): Promise<void> {
  const answer = await fetch(`${url}/api/agents`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'echo', url: agentUrl, policy }),
  });
  if (answer.status !== 201) throw new Error(`The agent was refused: ${await answer.text()}`);
}
