import { status } from '@grpc/grpc-js';
import { rpc, sendParams, VERSION } from '../../support/a2a.js';
import { ANN, KNOWS_CALLERS } from '../../support/callers.js';
import { refusedUpgrade } from '../../support/gateway-client.js';
import { GrpcWire } from '../../support/grpc-wire.js';
import { useSharedStage } from '../../support/shared-stage.js';
import { Api, input, linear, output, unique } from '../../support/workflow.js';

const SCOPES = ['agents', 'workflows', 'prompts', 'admin'] as const;
type Scope = (typeof SCOPES)[number];

const NOBODY = '00000000-0000-4000-8000-000000000000';
const AGENTS: Scope[] = ['agents'];
const WORKFLOWS: Scope[] = ['workflows'];
const READERS: Scope[] = ['agents', 'workflows'];
const ADMIN: Scope[] = ['admin'];
const EVERYONE: Scope[] = [...SCOPES];
const PROMPTS: Scope[] = ['prompts', 'admin'];

type Row = [route: string, scopes: Scope[], allowed: number, body?: unknown];

/** Every operation of the management API: who may, and what is answered then. */
const API: Row[] = [
  ['GET /api/workflows', READERS, 200],
  ['POST /api/workflows', WORKFLOWS, 422, { name: 'x', nodes: [], edges: [{ from: 'a', to: 'b' }] }],
  ['GET /api/workflows/{name}', READERS, 200],
  ['PUT /api/workflows/{name}', WORKFLOWS, 422, { nodes: [], edges: [{ from: 'a', to: 'b' }] }],
  ['DELETE /api/workflows/{name}', WORKFLOWS, 404],
  ['POST /api/workflows/check', READERS, 200, {}],
  ['POST /api/generate', WORKFLOWS, 422, { description: ' ' }],
  ['POST /api/apply', WORKFLOWS, 200, { workflows: [], objects: [], mark: 'scopes', prune: true }],
  ['GET /api/workflows/{name}/revisions', READERS, 200],
  ['GET /api/workflows/{name}/revisions/{revision}', READERS, 404],
  ['GET /api/workflows/{name}/revisions/{revision}/diff', READERS, 404],
  ['POST /api/workflows/{name}/revisions/{revision}/restore', WORKFLOWS, 404],
  ['GET /api/workflows/{name}/failures', AGENTS, 200],
  ['POST /api/workflows/{name}/run', AGENTS, 200, { inputs: { in: 'x' } }],
  ['POST /api/workflows/{name}/runs', AGENTS, 202, { inputs: { in: 'x' } }],
  ['GET /api/runs', AGENTS, 200],
  ['GET /api/runs.csv', AGENTS, 200],
  ['GET /api/runs/count', AGENTS, 200],
  ['POST /api/runs/cancel', AGENTS, 200, { ids: [] }],
  ['POST /api/runs/rerun', AGENTS, 200, { ids: [] }],
  ['GET /api/runs/{id}', AGENTS, 404],
  ['GET /api/runs/{id}/workflow', AGENTS, 404],
  ['GET /api/runs/{id}/diff', AGENTS, 404],
  ['GET /api/runs/{id}/nodes/{node}', AGENTS, 404],
  ['GET /api/runs/{id}/events', AGENTS, 404],
  ['GET /api/runs/{id}/instances', AGENTS, 404],
  ['GET /api/runs/{id}/forks', AGENTS, 404],
  ['GET /api/runs/{id}/cost', AGENTS, 404],
  ['POST /api/runs/{id}/answers', AGENTS, 404, { node: 'a', parts: [{ text: 'x' }] }],
  ['POST /api/runs/{id}/rerun', AGENTS, 404],
  ['GET /api/inbox', AGENTS, 200],
  ['GET /api/overview', AGENTS, 200],
  ['GET /api/usage', AGENTS, 200],
  ['GET /api/tasks/{id}/events', AGENTS, 404],
  ['GET /api/tasks/{id}/prompts', PROMPTS, 404],
  ['GET /api/tasks/{id}/prompts/{call}', PROMPTS, 404],
  ['POST /api/expressions/check', READERS, 200, { expression: '1' }],
  ['POST /api/runs/{id}/cancel', AGENTS, 404],
  ['GET /api/conversations', AGENTS, 200],
  ['POST /api/conversations', AGENTS, 400, {}],
  ['GET /api/conversations/{id}', AGENTS, 404],
  ['GET /api/conversations/{id}/events', AGENTS, 404],
  ['POST /api/conversations/{id}/cancel', AGENTS, 404],
  ['POST /api/conversations/{id}/pause', AGENTS, 404],
  ['POST /api/conversations/{id}/resume', AGENTS, 404],
  ['POST /api/conversations/{id}/stop', AGENTS, 404],
  ['POST /api/conversations/{id}/turns', AGENTS, 404, { text: 'x' }],
  ['POST /api/agent-messages', AGENTS, 400, {}],
  ['GET /api/brainstorms', AGENTS, 200],
  ['POST /api/brainstorms', AGENTS, 400, {}],
  ['GET /api/brainstorms/{id}', AGENTS, 404],
  ['GET /api/brainstorms/{id}/events', AGENTS, 404],
  ['POST /api/brainstorms/{id}/iterate', AGENTS, 404, {}],
  ['POST /api/brainstorms/{id}/approve', AGENTS, 404],
  ['POST /api/brainstorms/{id}/cancel', AGENTS, 404],
  ['GET /api/deliveries', AGENTS, 200],
  ['POST /api/deliveries/{id}/redeliver', AGENTS, 404],
  ['GET /api/events', AGENTS, 200],
  ['POST /api/tickets', AGENTS, 201],
  ['GET /api/session', EVERYONE, 200],
  ['POST /api/session', EVERYONE, 201],
  ['DELETE /api/session', EVERYONE, 200],
  ['GET /api/agent-card', READERS, 400],
  ['GET /api/agent-cards', READERS, 200],
  ['GET /api/agent-cards/{id}', READERS, 404],
  ['POST /api/agent-cards/{id}/accept', ADMIN, 404, {}],
  ['GET /api/keys', ADMIN, 200],
  ['POST /api/keys', ADMIN, 400, {}],
  ['POST /api/keys/{id}/rotate', ADMIN, 404, {}],
  ['DELETE /api/keys/{id}', ADMIN, 404],
  ['GET /api/credentials', ADMIN, 200],
  ['POST /api/credentials', ADMIN, 400, {}],
  ['GET /api/credentials/{name}', ADMIN, 404],
  ['PUT /api/credentials/{name}', ADMIN, 400, {}],
  ['DELETE /api/credentials/{name}', ADMIN, 404],
  ['GET /api/mcp-servers', ADMIN, 200],
  ['POST /api/mcp-servers', ADMIN, 400, {}],
  ['GET /api/mcp-servers/{name}', ADMIN, 404],
  ['PUT /api/mcp-servers/{name}', ADMIN, 400, {}],
  ['DELETE /api/mcp-servers/{name}', ADMIN, 404],
  ['POST /api/mcp-servers/{name}/call', ADMIN, 400, {}],
  ['POST /api/mcp-servers/{name}/accept', ADMIN, 400, {}],
  ['GET /api/agents', ADMIN, 200],
  ['POST /api/agents', ADMIN, 400, {}],
  ['GET /api/agents/{name}', ADMIN, 404],
  ['PUT /api/agents/{name}', ADMIN, 404, { url: 'https://agent.example.com' }],
  ['DELETE /api/agents/{name}', ADMIN, 404],
  ['GET /api/limits', READERS, 200],
  ['POST /api/limits', ADMIN, 400, {}],
  ['GET /api/limits/{name}', READERS, 404],
  ['PUT /api/limits/{name}', ADMIN, 404, { target: 'caller', concurrency: 1 }],
  ['DELETE /api/limits/{name}', ADMIN, 404],
  ['GET /api/schedules', READERS, 200],
  ['POST /api/schedules/times', READERS, 400, {}],
  ['POST /api/schedules', WORKFLOWS, 400, {}],
  ['GET /api/schedules/{name}', READERS, 404],
  ['GET /api/schedules/{name}/firings', READERS, 404],
  ['PUT /api/schedules/{name}', WORKFLOWS, 400, {}],
  ['DELETE /api/schedules/{name}', WORKFLOWS, 404],
  ['POST /api/schedules/{name}/pause', WORKFLOWS, 404, {}],
  ['POST /api/schedules/{name}/resume', WORKFLOWS, 404],
  ['POST /api/schedules/{name}/run', WORKFLOWS, 404],
  ['POST /api/schedules/{name}/backfill', WORKFLOWS, 400, { from: 'x', to: 'y' }],
  ['GET /api/triggers', READERS, 200],
  ['POST /api/triggers', WORKFLOWS, 400, {}],
  ['GET /api/triggers/{name}', READERS, 404],
  ['GET /api/triggers/{name}/deliveries', READERS, 404],
  ['PUT /api/triggers/{name}', WORKFLOWS, 400, {}],
  ['DELETE /api/triggers/{name}', WORKFLOWS, 404],
  ['POST /api/triggers/{name}/deliveries/{number}/replay', WORKFLOWS, 404],
  ['GET /api/models', READERS, 200],
  ['POST /api/models', ADMIN, 400, {}],
  ['GET /api/models/{name}', READERS, 404],
  ['PUT /api/models/{name}', ADMIN, 400, {}],
  ['DELETE /api/models/{name}', ADMIN, 404],
  ['POST /api/models/test', ADMIN, 400, {}],
  ['POST /api/models/{name}/test', ADMIN, 404],
  ['POST /api/upload', AGENTS, 400],
  ['GET /api/files', AGENTS, 200],
  ['GET /api/files/{id}', AGENTS, 404],
  ['DELETE /api/files/{id}', AGENTS, 404],
  ['POST /api/files/{id}/urls', AGENTS, 404],
];

/** What is below an agent's base, and MCP. */
const A2A: Row[] = [
  ['GET /a2a/agents', AGENTS, 200],
  ['GET /a2a/tasks', AGENTS, 200],
  ['GET /a2a/tasks/{id}', AGENTS, 404],
  ['POST /a2a/tasks/{id}:cancel', AGENTS, 404, {}],
  ['GET /a2a/tasks/{id}:subscribe', AGENTS, 404],
  ['POST /a2a/tasks/{id}:subscribe', AGENTS, 404, {}],
  ['POST /a2a/message:send', AGENTS, 400, {}],
  ['POST /a2a/message:stream', AGENTS, 400, {}],
  ['POST /a2a/send-message', AGENTS, 400, {}],
  ['GET /a2a/extendedAgentCard', AGENTS, 200],
  ['GET /a2a/tasks/{id}/pushNotificationConfigs', AGENTS, 404],
  ['GET /a2a/tasks/{id}/pushNotificationConfigs/c', AGENTS, 404],
  ['POST /a2a/tasks/{id}/pushNotificationConfigs', AGENTS, 404, { url: 'https://example.com/' }],
  ['DELETE /a2a/tasks/{id}/pushNotificationConfigs/c', AGENTS, 404],
  ['POST /a2a/workflows/{name}/message:send', AGENTS, 200, sendParams('x')],
  ['POST /a2a/workflows/{name}/nodes/in/message:send', AGENTS, 200, sendParams('x')],
  ['GET /a2a/v1/tasks/{id}', AGENTS, 404],
  ['GET /a2a/nothing', AGENTS, 404],
  ['POST /mcp', AGENTS, 400, {}],
  ['POST /mcp/workflows/{name}', AGENTS, 400, {}],
  ['POST /mcp/agents/{name}', AGENTS, 404, {}],
  ['GET /mcp', AGENTS, 405],
  ['DELETE /mcp', AGENTS, 405],
  ['POST /agui/workflows/{name}', AGENTS, 400, {}],
  ['POST /agui/agents/{name}', AGENTS, 400, {}],
  ['GET /agui/workflows/{name}', AGENTS, 200],
  ['GET /agui/agents/{name}', AGENTS, 404],
  ['GET /agui/workflows/{name}/threads/t/runs/r', AGENTS, 404],
  ['POST /agui/workflows/{name}/threads/t/runs/r/cancel', AGENTS, 404],
  ['DELETE /agui/workflows/{name}', AGENTS, 405],
  ['GET /api/nothing', AGENTS, 404],
];

const METHODS = [
  ['SendMessage', sendParams('x')],
  ['SendStreamingMessage', sendParams('x')],
  ['GetTask', { id: NOBODY }],
  ['ListTasks', {}],
  ['CancelTask', { id: NOBODY }],
  ['SubscribeToTask', { id: NOBODY }],
  ['CreateTaskPushNotificationConfig', { taskId: NOBODY, url: 'https://example.com/' }],
  ['GetTaskPushNotificationConfig', { taskId: NOBODY, id: 'c' }],
  ['ListTaskPushNotificationConfigs', { taskId: NOBODY }],
  ['DeleteTaskPushNotificationConfig', { taskId: NOBODY, id: 'c' }],
  ['GetExtendedAgentCard', {}],
] as const;

const stage = useSharedStage(KNOWS_CALLERS);
const grpc = { url: '', grpc: '' };
const wire = new GrpcWire(() => grpc);
const callers = new Map<string, Record<string, string>>([['nothing', {}]]);
let api: Api;
let workflow: string;

beforeAll(async () => {
  api = new Api(stage.parley.url, ANN.headers);
  workflow = (await api.save(linear(unique('w'), input('in'), output('out')))).name;
  for (const scopes of [...SCOPES.map((it) => [it]), ['workflows', 'admin'], [...SCOPES]]) {
    const { body } = await api.call<{ key: string }>('POST', '/keys', { name: 'carl', scopes });
    callers.set(scopes.join(), { authorization: `Bearer ${body.key}` });
  }
  const card = (await (await fetch(`${stage.parley.url}/.well-known/agent-card.json`)).json()) as {
    supportedInterfaces: { url: string; protocolBinding: string }[];
  };
  grpc.grpc = card.supportedInterfaces.find((it) => it.protocolBinding === 'GRPC')!.url;
});

/** By the scopes of a key: what is answered where one of `scopes` is needed. */
function expected(scopes: readonly Scope[], allowed: number): Record<string, unknown> {
  const entries = [...callers.keys()].map((held): [string, unknown] => {
    if (held === 'nothing') return [held, [401, 'Bearer realm="parley"']];
    if (held.split(',').some((it) => scopes.includes(it as Scope))) return [held, [allowed, undefined]];
    const challenge = `Bearer realm="parley", error="insufficient_scope", scope="${scopes.join(' ')}"`;
    return [held, [403, challenge]];
  });
  return Object.fromEntries(entries);
}

async function seen(ask: (headers: Record<string, string>) => Promise<unknown>): Promise<Record<string, unknown>> {
  const entries = await Promise.all([...callers].map(async ([held, headers]) => [held, await ask(headers)] as const));
  return Object.fromEntries(entries);
}

it('the table has every operation of the management API', async () => {
  const document = (await (await fetch(`${stage.parley.url}/docs-json`)).json()) as { paths: Record<string, object> };
  const operations = Object.entries(document.paths)
    .filter(([path]) => path.startsWith('/api/'))
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`));
  expect(API.map(([route]) => route).toSorted()).toEqual(operations.toSorted());
});

describe.each([...API, ...A2A])('%s', (route, scopes, allowed, body) => {
  it(`needs ${scopes.join(' or ')}`, async () => {
    const [method = '', template = ''] = route.split(' ');
    const gone = method === 'DELETE' ? 'nothing_here' : workflow;
    const name = /^\/api\/(credentials|models)/.test(template) ? 'nothing_here' : gone;
    const path = template.replace('{name}', name).replace('{id}', NOBODY).replace('{node}', 'x');
    const answers = await seen(async (headers) => {
      const response = await fetch(`${stage.parley.url}${path}`, {
        method,
        headers: {
          ...(path.startsWith('/a2a') && !path.includes('/v1/') && VERSION),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      void response.body?.cancel();
      return [response.status, response.headers.get('www-authenticate') ?? undefined];
    });
    expect(answers).toEqual(expected(scopes, allowed));
  });
});

describe.each(METHODS)('%s', (method, params) => {
  it.each([
    ['JSON-RPC', {}],
    ['JSON-RPC 0.3', { 'a2a-version': '0.3' }],
  ])('needs agents over %s', async (_binding, version) => {
    const answers = await seen(async (headers) => {
      const reply = await rpc(`${stage.parley.url}/a2a/workflows/${workflow}`, method, params, {
        headers: { ...headers, ...version },
      });
      const challenge = reply.headers.get('www-authenticate') ?? undefined;
      return [reply.status, challenge];
    });
    expect(answers).toEqual(expected(AGENTS, 200));
  });

  it('needs agents over gRPC', async () => {
    const refused = await seen(async (headers) => {
      const { code } = await wire.refusal(`workflows/${workflow}`, method, params as never, headers).catch(() => ({
        code: status.OK,
      }));
      return code === status.UNAUTHENTICATED || code === status.PERMISSION_DENIED ? code : 'let in';
    });
    const [no, low] = [status.UNAUTHENTICATED, status.PERMISSION_DENIED];
    expect(refused).toEqual({
      nothing: no,
      agents: 'let in',
      workflows: low,
      prompts: low,
      admin: low,
      'workflows,admin': low,
      [SCOPES.join()]: 'let in',
    });
  });
});

describe('the WebSocket of the event gateway', () => {
  it('needs agents', async () => {
    const denied = ['nothing', 'workflows', 'prompts', 'admin', 'workflows,admin'];
    const statuses = await Promise.all(
      denied.map(async (held) => (await refusedUpgrade(`${stage.parley.url}/events`, callers.get(held))).status),
    );
    expect(statuses).toEqual([401, 403, 403, 403, 403]);
  });
});

describe('a batch', () => {
  it('is no way around the scope of what is in it', async () => {
    const calls = METHODS.map(([method, params], id) => ({ jsonrpc: '2.0', id, method, params }));
    const answers = await seen(async (headers) => {
      const reply = await rpc(`${stage.parley.url}/a2a`, '', undefined, { headers, body: calls });
      return [reply.status, reply.headers.get('www-authenticate') ?? undefined];
    });
    expect(answers).toEqual(expected(AGENTS, 200));
  });
});

describe('a key', () => {
  it('makes none with more than it has, unless it may do everything anyway', async () => {
    const body = { name: 'eve', scopes: [...SCOPES] };
    const made = await seen(
      async (headers) => (await new Api(stage.parley.url, headers).call('POST', '/keys', body)).status,
    );
    expect(made).toEqual({
      nothing: 401,
      agents: 403,
      workflows: 403,
      prompts: 403,
      // Whoever manages keys can make any: as good as all, and documented so.
      admin: 201,
      'workflows,admin': 201,
      [SCOPES.join()]: 201,
    });
  });
});

it('POST /api/apply takes objects and prunes them only with the scope admin', async () => {
  const definition = { name: unique('object'), url: 'http://127.0.0.1:9' };
  const apply = async (scopes: string, body: object) => {
    const response = await fetch(`${stage.parley.url}/api/apply?dryRun=true`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...callers.get(scopes) },
      body: JSON.stringify({ workflows: [], mark: 'scopes', ...body }),
    });
    return [response.status, await response.text()];
  };
  const objects = [{ kind: 'agent', definition }];
  expect(await apply('workflows', { objects })).toEqual([403, expect.stringContaining('scope admin')]);
  expect(await apply('workflows', { objects: [], prune: true })).toEqual([200, expect.any(String)]);
  expect(await apply('workflows,admin', { objects })).toEqual([200, expect.stringContaining('"created"')]);
});
