/** Route of `/api` whose path contains an id of some kind, with its body and headers. */
export type ApiRoute = [method: string, path: string, body?: (id: string) => unknown, headers?: Record<string, string>];

/** Routes with the id of a Task. Each is tried with every kind of Task. */
export const RUN_ROUTES: readonly ApiRoute[] = [
  ['GET', '/runs/{id}'],
  ['GET', '/runs/{id}/workflow'],
  ['GET', '/runs/{id}/nodes/q'],
  ['GET', '/runs/{id}/events'],
  ['GET', '/runs/{id}/events?since=1'],
  ['GET', '/runs/{id}/diff'],
  ['GET', '/runs/{id}/instances'],
  ['GET', '/runs/{id}/forks'],
  ['GET', '/runs/{id}/cost'],
  ['POST', '/runs/{id}/answers', () => ({ node: 'in', parts: [{ text: 'mine now' }] })],
  ['POST', '/runs/{id}/rerun', () => ({ from: ['in'] })],
  ['POST', '/runs/{id}/cancel'],
  ['GET', '/deliveries?taskId={id}'],
  ['GET', '/tasks/{id}/events'],
  ['GET', '/tasks/{id}/events?after=1'],
  ['GET', '/tasks/{id}/prompts'],
];

/** Routes with the id of a Task that has called a model. */
export const PROMPT_ROUTES: readonly ApiRoute[] = [['GET', '/tasks/{id}/prompts/1']];

export const CONVERSATION_ROUTES: readonly ApiRoute[] = [
  ['GET', '/conversations/{id}'],
  ['GET', '/conversations/{id}/events'],
  ['GET', '/conversations/{id}/events?since=1'],
  ['POST', '/conversations/{id}/cancel'],
  ['POST', '/conversations/{id}/pause'],
  ['POST', '/conversations/{id}/resume'],
  ['POST', '/conversations/{id}/stop'],
  ['POST', '/conversations/{id}/turns', () => ({ text: 'mine now' })],
];

export const BRAINSTORM_ROUTES: readonly ApiRoute[] = [
  ['GET', '/brainstorms/{id}'],
  ['GET', '/brainstorms/{id}/events'],
  ['GET', '/brainstorms/{id}/events?since=1'],
  ['POST', '/brainstorms/{id}/iterate'],
  ['POST', '/brainstorms/{id}/approve'],
  ['POST', '/brainstorms/{id}/cancel'],
];

export const DELIVERY_ROUTES: readonly ApiRoute[] = [['POST', '/deliveries/{id}/redeliver']];

/** Routes with the id of a file. The last one is tried only by the owner, since it deletes the file. */
export const FILE_ROUTES: readonly ApiRoute[] = [
  ['GET', '/files/{id}'],
  ['POST', '/files/{id}/urls', () => ({ expiresIn: '1h' })],
  ['DELETE', '/files/{id}'],
];

const IN = { id: 'in', type: 'input' };

/** Routes of objects that the callers of a tenant share. */
export const WORKFLOW_ROUTES: readonly ApiRoute[] = [
  ['GET', '/workflows/{id}'],
  ['GET', '/workflows/{id}/revisions'],
  ['GET', '/workflows/{id}/revisions/1'],
  ['GET', '/workflows/{id}/revisions/1/diff'],
  ['POST', '/workflows/{id}/revisions/1/restore'],
  ['GET', '/workflows/{id}/failures'],
  // Else it makes what there is not.
  ['PUT', '/workflows/{id}', (name) => ({ name, nodes: [IN], edges: [] }), { 'if-match': '*' }],
  ['POST', '/workflows/{id}/runs', () => ({ inputs: { in: 'mine' } })],
  ['POST', '/workflows/{id}/run', () => ({ inputs: { in: 'mine' } })],
  ['DELETE', '/workflows/{id}'],
];

export const CREDENTIAL_ROUTES: readonly ApiRoute[] = [
  ['GET', '/credentials/{id}'],
  ['PUT', '/credentials/{id}', () => ({ kind: 'api-key', value: 'mine' })],
  ['DELETE', '/credentials/{id}'],
];

export const MCP_SERVER_ROUTES: readonly ApiRoute[] = [
  ['GET', '/mcp-servers/{id}'],
  ['PUT', '/mcp-servers/{id}', () => ({ url: 'https://mcp.example.com' })],
  ['POST', '/mcp-servers/{id}/accept', () => ({ hash: 'mine' })],
  ['POST', '/mcp-servers/{id}/call', () => ({ tool: 'mine' })],
  ['DELETE', '/mcp-servers/{id}'],
];

export const AGENT_ROUTES: readonly ApiRoute[] = [
  ['GET', '/agents/{id}'],
  ['PUT', '/agents/{id}', () => ({ url: 'https://agent.example.com' })],
  ['DELETE', '/agents/{id}'],
];

export const LIMIT_ROUTES: readonly ApiRoute[] = [
  ['GET', '/limits/{id}'],
  ['PUT', '/limits/{id}', () => ({ target: 'caller', concurrency: 1 })],
  ['DELETE', '/limits/{id}'],
];

const PERIOD = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' };

export const SCHEDULE_ROUTES: readonly ApiRoute[] = [
  ['GET', '/schedules/{id}'],
  ['GET', '/schedules/{id}/firings'],
  ['POST', '/schedules/{id}/pause', () => ({ note: 'mine' })],
  ['POST', '/schedules/{id}/resume'],
  ['POST', '/schedules/{id}/run'],
  ['POST', '/schedules/{id}/backfill', () => PERIOD],
  ['PUT', '/schedules/{id}', () => ({ workflow: 'mine', every: '1h' })],
  ['DELETE', '/schedules/{id}'],
];

const HOOK = { scheme: 'bearer', secrets: ['mine'] };

export const TRIGGER_ROUTES: readonly ApiRoute[] = [
  ['GET', '/triggers/{id}'],
  ['GET', '/triggers/{id}/deliveries'],
  // The first delivery of the service is that of Ann's trigger.
  ['POST', '/triggers/{id}/deliveries/1/replay'],
  ['PUT', '/triggers/{id}', () => ({ workflow: 'mine', webhook: HOOK })],
  ['DELETE', '/triggers/{id}'],
];

const MODEL = { provider: 'openai', model: 'mine' };

export const MODEL_ROUTES: readonly ApiRoute[] = [
  ['GET', '/models/{id}'],
  ['POST', '/models/{id}/test'],
  ['PUT', '/models/{id}', () => MODEL],
  ['DELETE', '/models/{id}'],
];

export const CARD_ROUTES: readonly ApiRoute[] = [
  ['GET', '/agent-cards/{id}'],
  ['POST', '/agent-cards/{id}/accept', () => ({})],
];

/** Returns every tested route of `/api` as OpenAPI names it: without its query, and with `{}` for path parameters. */
export function askedRoutes(): Set<string> {
  const all = [RUN_ROUTES, PROMPT_ROUTES, CONVERSATION_ROUTES, BRAINSTORM_ROUTES, DELIVERY_ROUTES, FILE_ROUTES].flat();
  const shared = [
    WORKFLOW_ROUTES,
    CREDENTIAL_ROUTES,
    MCP_SERVER_ROUTES,
    AGENT_ROUTES,
    LIMIT_ROUTES,
    MODEL_ROUTES,
    SCHEDULE_ROUTES,
    TRIGGER_ROUTES,
    CARD_ROUTES,
  ].flat();
  return new Set(
    [...all, ...shared].map(([method, path]) => {
      const place = path
        .replace(/\?.*/, '')
        .replace('/nodes/q', '/nodes/{node}')
        .replace('/revisions/1', '/revisions/{}')
        .replace('/prompts/1', '/prompts/{}')
        .replace('/deliveries/1', '/deliveries/{}');
      return `${method} /api${place.replaceAll(/\{\w+\}/g, '{}')}`;
    }),
  );
}
