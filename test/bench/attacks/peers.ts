import { aborted, ask, type Attack, messageCall, repeat, type Target } from './attack.ts';

/** Tasks whose webhooks take a connection and never answer. */
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

/** An MCP server whose list of tools has no end. */
export const endlessLists: Attack = async (target, signal) => {
  await addServer(target, 'endless', 'mcp-endless');
  await repeat(signal, 1, () => ask(target, '/api/mcp-servers/endless', undefined, signal));
};

/** An MCP server that ends each stream at once, and asks to be called again without a pause. */
export const hastyStreams: Attack = async (target, signal) => {
  await addServer(target, 'hasty', 'mcp-hasty');
  await ask(target, '/api/mcp-servers/hasty', undefined, signal);
  await aborted(signal);
};

async function addServer(target: Target, name: string, place: string): Promise<void> {
  await ask(target, '/api/mcp-servers', { name, url: `${target.peers}/${place}` });
}
