import type { JsonObject, JsonValue } from '#libs/protocol';
import type { Seed } from '../fuzz-case.js';

/** Members of an OpenAPI document that are used here. */
export interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, Schema> };
}

interface Operation {
  parameters?: { name: string; in: string; schema?: Schema }[];
  requestBody?: { content?: Record<string, { schema?: Schema }> };
}

interface Schema {
  $ref?: string;
  type?: string;
  enum?: JsonValue[];
  properties?: Record<string, Schema>;
  items?: Schema;
  allOf?: Schema[];
  oneOf?: Schema[];
}

const SCRIPT: JsonObject = {
  rules: [{ when: { text: '^h(i|ello)$', turn: 1, messageId: 'm.*' }, steps: [{ ask: 'more?' }] }],
  otherwise: [
    { status: 'working', text: '{{text}}' },
    { artifact: { artifactId: 'a', name: 'n', parts: [{ text: 'x' }], append: false, lastChunk: true } },
    { echo: true },
    { sleep: 1 },
    { complete: 'done' },
  ],
};
const WORKFLOW: JsonObject = {
  name: '{{edited}}',
  description: 'what it is for',
  nodes: [
    { id: 'in', type: 'input' },
    { id: 'agent', type: 'agent', config: { prompt: 'say {{in}}', system_prompt: 'be brief', model: 'echo' } },
    { id: 'script', type: 'script', config: { script: SCRIPT } },
    {
      id: 'far',
      type: 'external',
      config: { endpoint_url: '{{agent}}', timeout: 2, prompt: '{{agent}}', auth: 'fuzz' },
    },
    { id: 'tool', type: 'tool', config: { tool: 'echo', args: { text: '{{in}}' } } },
    { id: 'out', type: 'output', config: { prompt: '{{script}}' } },
  ],
  edges: [
    { from: 'in', to: 'agent' },
    { from: 'agent', to: 'script' },
    { from: 'script', to: 'out' },
  ],
  onFailure: 'continue',
};
const PLAIN: JsonObject = { ...WORKFLOW, nodes: (WORKFLOW['nodes'] as JsonValue[]).filter((_, index) => index !== 4) };

/** Workflow that uses every construct of the language. */
const LANGUAGE: JsonObject = {
  name: '{{edited}}',
  language: 2,
  deadline: '1m',
  parallel: 5,
  nodes: [
    { id: 'in', type: 'input', config: { schema: { type: 'string', pattern: '^a+$' }, default: 'a' } },
    {
      id: 'draft',
      type: 'agent',
      config: { prompt: '${iteration} ${inputs["in"]}', data: { n: '${iteration}' } },
      timeout: '10s',
      retry: {
        ...{ attempts: 2, on: ['timeout'], when: "error.kind == 'failed'", delay: '1ms', factor: 2, maxDelay: '1s' },
        jitter: 0.5,
      },
      output: { schema: { type: 'object', properties: { a: { enum: ['x'] } } }, parse: true },
      fallback: { parts: [{ text: '${error.message}' }, { data: { a: null } }] },
    },
    { id: 'ok', type: 'set', config: { values: { ok: '${size(nodes.draft.text) > 3}' } } },
    {
      id: 'each',
      type: 'agent',
      config: { prompt: '${string(item)}' },
      each: { items: '[1, 2].map(x, x + 1)', concurrency: 2, maxItems: 5, onFailure: 'collect', minSuccess: '50%' },
    },
    { id: 'pause', type: 'wait', config: { until: "now + duration('1ms')" } },
    {
      id: 'gate',
      type: 'human',
      branch: 'first',
      config: { prompt: 'Well?', assignee: 'a', form: { type: 'object', required: ['ok'] } },
      onWait: { deadline: '1s', default: { ok: true } },
    },
    {
      id: 'child',
      type: 'workflow',
      config: { body: { nodes: [{ id: 'who', type: 'input' }], edges: [] }, inputs: { who: '${1}' } },
    },
    { id: 'out', type: 'output', join: { n: 1, cancelRest: true } },
    { id: 'last', type: 'agent', config: { prompt: '${error == null}' } },
  ],
  edges: [
    { from: 'in', to: 'draft' },
    { from: 'draft', to: 'ok' },
    {
      ...{ from: 'ok', to: 'draft' },
      loop: { max_iterations: 2, exit_when: 'nodes.ok.data.ok', delay: '1ms', on_max: 'fail', initial: 'x' },
    },
    { from: 'ok', to: 'each' },
    { from: 'each', to: 'pause' },
    { from: 'pause', to: 'gate' },
    { from: 'gate', to: 'child', when: 'nodes.gate.data.ok' },
    { from: 'gate', to: 'out' },
    { from: 'child', to: 'out', on: 'always' },
  ],
  onExit: [{ node: 'last', on: 'failure' }],
};

/** Credentials, one of each kind, under names that nodes use. */
const CREDENTIALS: JsonObject[] = [
  { name: 'fuzz', kind: 'api-key', in: 'header', parameter: 'X-API-Key', value: 'v', hosts: ['{{agent}}'] },
  { name: 'fuzz', kind: 'bearer', token: 't' },
  { name: 'fuzz', kind: 'basic', username: 'u', password: 'p' },
  {
    name: 'fuzz',
    kind: 'oauth2-client-credentials',
    tokenUrl: '{{agent}}',
    clientId: 'c',
    clientSecret: 's',
    scopes: ['read'],
    audience: 'a',
    clientAuthentication: 'body',
  },
];

const LIMITS = [
  { name: 'fuzz', target: 'workflows/fuzz', concurrency: 1000, rate: { count: 1000, period: '1s', burst: 9 } },
];
const MODELS: JsonObject[] = [
  { name: 'fuzz', provider: 'openai-compatible', model: 'm', baseUrl: '{{agent}}', auth: 'fuzz', input: ['image/*'] },
  { name: 'fuzz', provider: 'anthropic', model: 'm' },
];

/** Valid bodies by operation. For other operations bodies are derived from the schema. */
const BODIES: Readonly<Record<string, JsonObject[]>> = {
  'POST /api/workflows': [PLAIN, WORKFLOW, LANGUAGE, { ...PLAIN, name: '{{gone}}' }],
  'PUT /api/workflows/{name}': [PLAIN, WORKFLOW, LANGUAGE],
  'POST /api/workflows/check': [WORKFLOW, LANGUAGE],
  'POST /api/generate': [{ description: 'Say it.', model: 'echo', current: WORKFLOW, name: 'fuzz' }],
  'POST /api/expressions/check': [
    { expression: 'nodes.gate.data.ok && [1].all(x, x > 0)', definition: LANGUAGE, path: 'edges[6].when' },
    { template: { a: ['${item} {{in}}'] }, definition: LANGUAGE, path: 'nodes[3].config.data' },
    { expression: "nodes.any.text.matches('^(a+)+$')" },
  ],
  'POST /api/workflows/{name}/run': [{ inputs: { in: 'x' } }],
  'POST /api/workflows/{name}/runs': [{ inputs: { in: { deep: ['x'] } } }],
  'POST /api/conversations': [
    {
      requester: '{{agent}}',
      target: '{{agent}}',
      announce: '{{agent}}',
      message: 'hi',
      maxTurns: 1,
      timeoutMs: 2000,
      instructions: 'text',
      auth: { requester: 'fuzz', target: 'fuzz', announce: 'fuzz' },
    },
  ],
  'POST /api/conversations/{id}/turns': [{ text: 'hi' }],
  'POST /api/brainstorms': [
    {
      idea: 'an idea',
      agents: [
        { agent: '{{agent}}', name: 'a', role: 'CHALLENGER', provider: 'p', model: 'm', skills: ['x'] },
        { agent: '{{agent}}', name: 'b', auth: 'fuzz' },
      ],
      maxIterations: 1,
      systemPrompt: 'be brief',
      llmConfig: { temperature: 0 },
    },
  ],
  'POST /api/credentials': CREDENTIALS,
  'PUT /api/credentials/{name}': CREDENTIALS,
  'POST /api/models': MODELS,
  'POST /api/models/test': MODELS,
  'PUT /api/models/{name}': MODELS,
  'POST /api/limits': LIMITS,
  'PUT /api/limits/{name}': LIMITS,
  'POST /api/keys': [{ name: 'fuzz', scopes: ['agents'] }],
  'POST /api/keys/{id}/rotate': [{ overlapSeconds: 1 }],
};

/** Placeholders for `{id}` and `{name}` in a path, by a pattern of the path. */
const NAMES: [path: RegExp, name: string][] = [
  [/\/runs\//, '{{run}}'],
  [/\/conversations\//, '{{conversation}}'],
  [/\/brainstorms\//, '{{brainstorm}}'],
  [/\/deliveries\//, '{{delivery}}'],
  [/\/keys\//, '{{keyId}}'],
  [/\/(credentials|limits|models)\//, 'fuzz'],
  [/\/workflows\/\{name\}\/runs?$/, '{{runnable}}'],
  [/\/workflows\//, '{{edited}}'],
];

/** Returns a seed for every operation of the management API, or one for each of its bodies in BODIES. */
export function apiSeeds(api: OpenApi): Seed[] {
  return Object.entries(api.paths)
    .filter(([path]) => path.startsWith('/api/'))
    .flatMap(([path, operations]) =>
      Object.entries(operations).flatMap(([method, operation]) => seedsOf(api, method.toUpperCase(), path, operation)),
    );
}

function seedsOf(api: OpenApi, method: string, path: string, operation: Operation): Seed[] {
  const endpoint = `${method} ${path}`;
  const name = endpoint === 'DELETE /api/workflows/{name}' ? '{{gone}}' : NAMES.find(([it]) => it.test(path))?.[1];
  const target = `${path.replaceAll(/\{\w+\}/g, name ?? 'x')}${queryOf(operation)}`;
  const schema = operation.requestBody?.content?.['application/json']?.schema;
  const bodies = BODIES[endpoint] ?? (schema ? [sample(api, schema, 0)] : [undefined]);
  return bodies.map((body) => ({
    endpoint,
    transport: 'http',
    method,
    path: target,
    ...(body !== undefined && { body, headers: { 'content-type': 'application/json' } }),
  }));
}

function queryOf({ parameters = [] }: Operation): string {
  const query = parameters
    .filter((it) => it.in === 'query')
    .map(({ name, schema }) => `${name}=${valueOf(name, schema)}`);
  return query.length === 0 ? '' : `?${query.join('&')}`;
}

function valueOf(name: string, schema: Schema | undefined): string {
  if (schema?.enum) return String(schema.enum[0]);
  return QUERY[name] ?? '';
}

const QUERY: Readonly<Record<string, string>> = {
  pageSize: '5',
  taskId: '{{ended}}',
  contextId: '{{context}}',
  runId: '{{run}}',
  conversationId: '{{conversation}}',
  streams: 'task,run,a2a',
  workflow: '{{runnable}}',
};

/** Returns a value that the schema permits, as far as types are concerned. */
function sample(api: OpenApi, schema: Schema, depth: number): JsonValue {
  if (depth > 6) return null;
  if (schema.$ref) return sample(api, api.components?.schemas?.[schema.$ref.split('/').at(-1) ?? ''] ?? {}, depth + 1);
  if (schema.enum) return schema.enum[0] ?? null;
  const [first] = schema.oneOf ?? schema.allOf ?? [];
  if (first) return sample(api, first, depth + 1);
  if (schema.properties) {
    const entries = Object.entries(schema.properties).map(([name, it]) => [name, sample(api, it, depth + 1)]);
    return Object.fromEntries(entries) as JsonObject;
  }
  if (schema.items) return [sample(api, schema.items, depth + 1)];
  return { string: 'text', integer: 1, number: 1.5, boolean: true, object: {} }[schema.type ?? 'string'] ?? null;
}
