import { apiKeyEnv, testCaller } from '../support/callers.js';
import { useStage } from '../support/stage.js';
import { Api, script } from '../support/workflow.js';

interface Schema {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  default?: unknown;
  example?: unknown;
  examples?: unknown[];
  items?: Schema;
  properties?: Record<string, Schema>;
  allOf?: Schema[];
  oneOf?: Schema[];
}

interface Media {
  schema: Schema;
  examples?: Record<string, { value: unknown }>;
}

interface Document {
  paths: Record<string, Record<string, { requestBody?: { content: Record<string, Media> } }>>;
  components: { schemas: Record<string, Schema> };
}

const mary = testCaller('mary');
const stage = useStage({ env: apiKeyEnv(mary) });
let api: Api;
let document: Document;
/** A conversation that does not end by itself. */
let underWay = '';

/** What the path of an operation names, where it has a parameter; in the order in which somebody may try them. */
const TRIED: Record<string, () => string | Promise<string>> = {
  'POST /keys': nothing,
  'POST /keys/{id}/rotate': async () => {
    return (await api.call<{ id: string }>('POST', '/keys', { name: 'anyone', scopes: ['agents'] })).body.id;
  },
  'POST /credentials': nothing,
  'PUT /credentials/{name}': () => 'partner',
  'POST /models': nothing,
  'PUT /models/{name}': () => 'large',
  'POST /mcp-servers': nothing,
  'PUT /mcp-servers/{name}': () => 'github',
  'POST /workflows/check': nothing,
  'POST /workflows': nothing,
  'PUT /workflows/{name}': () => 'greeting',
  'POST /apply': nothing,
  'POST /expressions/check': nothing,
  'POST /workflows/{name}/runs': () => 'greeting',
  'POST /workflows/{name}/run': () => 'greeting',
  'POST /limits': nothing,
  'PUT /limits/{name}': () => 'writer',
  'POST /schedules/times': nothing,
  'POST /schedules': nothing,
  'PUT /schedules/{name}': () => 'watch',
  'POST /schedules/{name}/pause': () => 'watch',
  'POST /schedules/{name}/backfill': () => 'morning-report',
  'POST /triggers': async () => {
    for (const name of ['github-push', 'shop'])
      await api.call('POST', '/credentials', { name, kind: 'bearer', token: 'a-secret' });
    return '';
  },
  'PUT /triggers/{name}': () => 'on-push',
  'POST /runs/cancel': nothing,
  'POST /runs/rerun': nothing,
  'POST /runs/{id}/rerun': async () => {
    const runId = await api.start('greeting', { name: 'Ada' });
    await api.ended(runId);
    return runId;
  },
  'POST /runs/{id}/answers': async () => {
    const gate = { id: 'gate', type: 'human', config: { prompt: 'Shall it be published?', form: { type: 'object' } } };
    await api.save({ name: 'publish', nodes: [gate], edges: [] });
    const runId = await api.start('publish');
    await api.reached(runId, ['input-required']);
    return runId;
  },
  'POST /conversations': nothing,
  'POST /conversations/{id}/turns': async () => {
    const { name } = await api.save({ name: 'slow', nodes: [script('s', { sleep: 600_000 })], edges: [] });
    const body = { target: name, message: 'Well?' };
    underWay = (await api.call<{ conversationId: string }>('POST', '/conversations', body)).body.conversationId;
    return underWay;
  },
  'POST /files/{id}/urls': async () => {
    const sent = { method: 'POST', headers: mary.headers, body: 'the content of a file' };
    const reply = await fetch(`${stage.parley.url}/api/upload`, sent);
    return ((await reply.json()) as { files: { id: string }[] }).files[0]!.id;
  },
  'POST /agent-messages': nothing,
  'POST /brainstorms': nothing,
};
/** Their bodies name what only an agent or a server elsewhere can have, or need a model that answers. */
const OF_OTHERS = [
  'POST /agent-cards/{id}/accept',
  'POST /agents',
  'PUT /agents/{name}',
  'POST /generate',
  'POST /mcp-servers/{name}/accept',
  'POST /mcp-servers/{name}/call',
  'POST /models/test',
];

beforeAll(async () => {
  api = new Api(stage.parley.url, mary.headers);
  document = (await (await fetch(`${stage.parley.url}/docs-json`)).json()) as Document;
});

it('what the documentation fills in for a body is taken as it is', async () => {
  const bodies = bodiesOf(document);
  expect([...bodies.keys()].sort()).toEqual([...Object.keys(TRIED), ...OF_OTHERS].sort());
  const refused: unknown[] = [];
  for (const [route, named] of Object.entries(TRIED)) {
    const [method = '', path = ''] = route.split(' ');
    for (const body of bodies.get(route) ?? []) {
      const { status, text } = await api.call(method, path.replace(/\{\w+\}/, await named()), body);
      if (status >= 400) refused.push([route, body, status, text]);
    }
  }
  await api.call('POST', `/conversations/${underWay}/cancel`);
  expect(refused).toEqual([]);
});

function nothing(): string {
  return '';
}

/** The bodies that the documentation offers, by operation. */
function bodiesOf({ paths }: Document): Map<string, unknown[]> {
  const bodies = new Map<string, unknown[]>();
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { requestBody }] of Object.entries(methods)) {
      const media = requestBody?.content['application/json'];
      if (!media) continue;
      const route = `${method.toUpperCase()} ${path.replace(/^\/api/, '')}`;
      const whole = Object.values(media.examples ?? {}).map(({ value }) => value);
      bodies.set(route, whole.length > 0 ? whole : [filledIn(media.schema)]);
    }
  }
  return bodies;
}

/** What Swagger UI makes of a schema: every member of it, with its own example. */
function filledIn(schema: Schema): unknown {
  const { $ref, example, examples, default: usual, enum: values, oneOf, allOf, properties, items, type } = schema;
  if ($ref !== undefined) return filledIn(document.components.schemas[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {});
  const told = example ?? examples?.[0] ?? usual ?? values?.[0];
  if (told !== undefined) return told;
  if (oneOf?.[0]) return filledIn(oneOf[0]);
  if (allOf) return Object.assign({}, ...allOf.map(filledIn)) as unknown;
  if (properties) return Object.fromEntries(Object.entries(properties).map(([name, it]) => [name, filledIn(it)]));
  if (items) return [filledIn(items)];
  return { string: 'string', integer: 0, number: 0, boolean: true }[type ?? ''] ?? {};
}
