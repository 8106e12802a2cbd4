import { aborted, ask, type Attack, cancelRuns, messageCall, repeat, startRun, type Target } from './attack.ts';

/** Creates Tasks whose webhooks accept a connection and never answer. */
export const hangingWebhooks: Attack = async (target, signal) => {
  let turn = 0;
  await repeat(signal, 8, async () => {
    turn += 1;
    const url = target.hooks[turn % target.hooks.length]!;
    await ask(
      target,
      '/a2a/workflows/echo/nodes/echo',
      messageCall('x', { taskPushNotificationConfig: { url } }),
      signal,
    );
  });
};

/** Uses an MCP server whose list of tools has no end. */
export const endlessLists: Attack = async (target, signal) => {
  await addServer(target, 'endless', 'mcp-endless');
  await repeat(signal, 1, () => ask(target, '/api/mcp-servers/endless', undefined, signal));
};

/** Uses an MCP server that ends each stream at once, and requests to be called again without a pause. */
export const hastyStreams: Attack = async (target, signal) => {
  await addServer(target, 'hasty', 'mcp-hasty');
  await ask(target, '/api/mcp-servers/hasty', undefined, signal);
  await aborted(signal);
};

/** Calls an agent fifty times at once, which answers each call with the maximum size. */
export const largeAnswers: Attack = (target, signal) => callAtOnce(target, signal, 'large', 50);

/** Calls agents that send small events without a pause. */
export const chattyAgents: Attack = (target, signal) => callAtOnce(target, signal, 'chatty', 10);

async function callAtOnce(target: Target, signal: AbortSignal, place: string, calls: number): Promise<void> {
  const nodes = [
    { id: 'entries', type: 'input', config: { schema: { type: 'array' } } },
    {
      ...{ id: 'peer', type: 'external', config: { endpoint_url: `${target.peers}/${place}`, timeout: 300 } },
      each: { items: 'inputs.entries', concurrency: calls, maxItems: calls },
    },
  ];
  await ask(target, '/api/workflows', { language: 2, name: place, nodes, edges: [{ from: 'entries', to: 'peer' }] });
  const run = await startRun(target, place, { entries: Array.from({ length: calls }, (_, entry) => entry) });
  await aborted(signal);
  await cancelRuns(target, [run]);
}

async function addServer(target: Target, name: string, place: string): Promise<void> {
  await ask(target, '/api/mcp-servers', { name, url: `${target.peers}/${place}` });
}
