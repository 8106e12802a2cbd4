import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject, JsonValue } from '#libs/protocol';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { ANN, KNOWS_CALLERS } from '../support/callers.js';
import { useSharedStage } from '../support/shared-stage.js';
import { Api, unique } from '../support/workflow.js';

const stage = useSharedStage(KNOWS_CALLERS);
const ROOT = join(import.meta.dirname, '..', '..');

let api: Api;
let schema: JsonObject;
let fits: ValidateFunction;

beforeAll(async () => {
  api = new Api(stage.parley.url, ANN.headers);
  schema = (await (await fetch(`${stage.parley.url}/schemas/workflow.json`)).json()) as JsonObject;
  fits = new Ajv2020({ strict: true }).compile(schema);
});

const FULL: JsonObject = {
  $schema: 'http://127.0.0.1:3000/schemas/workflow.json',
  name: 'full',
  description: 'd',
  nodes: [
    { id: 'in', type: 'input', config: { schema: { type: 'string' }, default: 'x', optional: true }, position: null },
    { id: 'a', type: 'agent', config: { prompt: '{{in}}', description: 'd' }, position: { x: 1, y: -2.5 } },
    { id: 't', type: 'tool', config: { tool: 'calculator', args: { expression: '1' } } },
    { id: 'e', type: 'external', config: { endpoint_url: 'http://127.0.0.1:1/', timeout: 5, auth: 'key' } },
    { id: 's', type: 'script', config: { script: { rules: [], otherwise: [{ complete: true }] } } },
    { id: 'c', type: 'conversation', config: { target: 'x', maxTurns: 1, auth: null, requester: null } },
    { id: 'b', type: 'brainstorm', config: { agents: [{ agent: 'x', role: 'build' }, { agent: 'y' }] } },
    { id: 'o', type: 'output' },
  ],
  edges: [{ from: 'in', to: 'a' }],
  onFailure: 'continue',
};

/** The JSON of code blocks that is a definition, and not a comparison of two. */
function definitionsIn(markdown: string): JsonObject[] {
  const blocks = [...markdown.matchAll(/```[\w ]*\n([\s\S]*?)```/g)].map(([, block = '']) => block);
  return blocks.flatMap((block) =>
    [block, ...[...block.matchAll(/'(\{[\s\S]*?\})'/g)].map(([, quoted = '']) => quoted)].flatMap((text) => {
      try {
        const value = JSON.parse(text) as JsonObject;
        return Array.isArray(value['nodes']) && !('truncated' in value) ? [value] : [];
      } catch {
        return [];
      }
    }),
  );
}

function filesUnder(folder: string, ending: string): string[] {
  const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith(ending)).map((name) => join(folder, name));
}

/** The full definition with one member changed; `undefined` takes it away. */
function having(path: string, value: JsonValue | undefined): JsonObject {
  const copy = structuredClone(FULL);
  const keys = path.split('.');
  const holder = keys.slice(0, -1).reduce<JsonValue>((at, key) => (at as JsonObject)[key] as JsonValue, copy);
  if (value === undefined) delete (holder as JsonObject)[keys.at(-1) ?? ''];
  else (holder as JsonObject)[keys.at(-1) ?? ''] = value;
  return copy;
}

/** Every place in a value, as the path that `having` takes. */
function placesIn(value: JsonValue, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [path];
  const inner = Object.entries(value).flatMap(([key, it]) => placesIn(it as JsonValue, path ? `${path}.${key}` : key));
  return path === '' ? inner : [path, ...inner];
}

async function errorsOf(definition: JsonObject): Promise<JsonObject[]> {
  const { body } = await api.call<{ problems: JsonObject[] }>('POST', '/workflows/check', definition);
  return body.problems.filter(({ severity }) => severity === 'error');
}

describe('GET /schemas/workflow.json', () => {
  it('is public, says what it is, and may be kept', async () => {
    const url = `${stage.parley.url}/schemas/workflow.json`;
    const first = await fetch(url);
    expect(first.status).toBe(200);
    expect(first.headers.get('content-type')).toBe('application/schema+json');
    expect(first.headers.get('cache-control')).toMatch(/^public, max-age=\d+/);
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]+"$/);
    const again = await fetch(url, { headers: { 'if-none-match': `W/${etag}, "other"` } });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
    expect((await fetch(url, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(200);
    expect((await fetch(url, { method: 'POST' })).status).not.toBe(200);
  });

  it('is a schema of 2020-12', () => {
    const meta = new Ajv2020().getSchema('https://json-schema.org/draft/2020-12/schema');
    expect(schema['$schema']).toBe('https://json-schema.org/draft/2020-12/schema');
    expect(meta?.(schema) || meta?.errors).toBe(true);
  });

  it('describes every member, also of the configs of all node types', () => {
    interface Described {
      properties: Record<string, Described & { description?: string }>;
      items: Described;
      allOf: { then: Described }[];
    }
    const workflow = schema as unknown as Described;
    const node = workflow.properties['nodes']?.items as Described;
    const edge = workflow.properties['edges']?.items as Described;
    const position = node.properties['position'] as Described;
    const configs = node.allOf.map(({ then }) => then.properties['config'] as Described);
    expect(configs).toHaveLength(12);
    for (const { properties } of [workflow, node, edge, position, ...configs]) {
      for (const [member, { description }] of Object.entries(properties)) {
        expect([member, description]).toEqual([member, expect.stringMatching(/\.$/)]);
      }
    }
  });

  it('takes what the service takes', async () => {
    expect(await errorsOf(FULL)).toEqual([]);
    expect(fits(FULL) || fits.errors).toBe(true);
    const saved = { ...FULL, name: unique('schema') };
    const { status, body } = await api.call('POST', '/workflows', saved);
    expect([status, body['$schema']]).toEqual([201, FULL['$schema']]);
    expect(fits(body) || fits.errors).toBe(true);
    const { body: read } = await api.call('GET', `/workflows/${saved.name}`);
    expect(fits(read) || fits.errors).toBe(true);
  });

  it.each(filesUnder('examples', 'workflow.json'))('takes %s', async (file) => {
    const definition = JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as JsonObject;
    expect(fits(definition) || fits.errors).toBe(true);
    expect(await errorsOf(definition)).toEqual([]);
  });

  it('takes every definition of the documentation', async () => {
    const files = ['README.md', ...filesUnder('docs', '.md')];
    const found = files.flatMap((file) =>
      definitionsIn(readFileSync(join(ROOT, file), 'utf8')).map((definition) => ({ file, definition })),
    );
    expect(found.map(({ file }) => file)).toContain('README.md');
    for (const { file, definition } of found) expect([file, fits(definition) || fits.errors]).toEqual([file, true]);
  });

  it.each<[string, JsonValue | undefined]>([
    ['name', undefined],
    ['name', 5],
    ['name', '-x'],
    ['name', 'a b'],
    ['description', 5],
    ['$schema', {}],
    ['nodes', undefined],
    ['nodes', {}],
    ['nodes', []],
    ['edges', 'a'],
    ['edges.0', 'in'],
    ['edges.0.to', undefined],
    ['edges.0.when', 'x'],
    ['onFailure', 'stop'],
    ['budget', 5],
    ['nodes.1', null],
    ['nodes.1.id', '-'],
    ['nodes.1.id', 5],
    ['nodes.1.type', undefined],
    ['nodes.1.type', 'teleport'],
    ['nodes.1.retry', { max: 3 }],
    ['nodes.1.config', []],
    ['nodes.1.config.description', 5],
    ['nodes.1.config.prompt', 5],
    ['nodes.1.position', []],
    ['nodes.1.position', 'left'],
    ['nodes.1.position.x', undefined],
    ['nodes.1.position.y', '1'],
    ['nodes.0.config.optional', 'yes'],
    ['nodes.0.config.schema', true],
    ['nodes.2.config', undefined],
    ['nodes.2.config', null],
    ['nodes.2.config.tool', 'hammer'],
    ['nodes.3.config.endpoint_url', 'ftp://a.test'],
    ['nodes.3.config.endpoint_url', undefined],
    ['nodes.3.config.timeout', 0],
    ['nodes.4.config.script.rules', {}],
    ['nodes.4.config.script.otherwise.0', { complete: true, ask: 'x' }],
    ['nodes.5.config.target', undefined],
    ['nodes.5.config.target', ' '],
    ['nodes.5.config.maxTurns', 21],
    ['nodes.5.config.auth', { stranger: 'key' }],
    ['nodes.6.config.agents', [{ agent: 'x' }]],
    ['nodes.6.config.agents.0.role', 'boss'],
    ['nodes.6.config.llmConfig', { key: 'x' }],
  ])('refuses %s: %j, as the service does', async (path, value) => {
    const definition = having(path, value);
    expect(fits(definition)).toBe(false);
    expect(await errorsOf(definition)).not.toEqual([]);
  });

  it.each<[string, JsonValue | undefined]>([
    ['description', null],
    ['edges', undefined],
    ['edges', null],
    ['onFailure', null],
    ['stranger', 1],
    ['revision', '7'],
    ['nodes.1.stranger', 1],
    ['nodes.1.config', undefined],
    ['nodes.1.config', null],
    ['nodes.1.config.stranger', 1],
    ['nodes.2.config.prompt', 5],
    ['nodes.5.config.timeoutMs', null],
  ])('takes %s: %j, as the service does', async (path, value) => {
    const definition = having(path, value);
    expect(await errorsOf(definition)).toEqual([]);
    expect(fits(definition) || fits.errors).toBe(true);
  });

  it('refuses nothing that the service takes, whatever is wrong at whatever place', async () => {
    const strange: (JsonValue | undefined)[] = [
      undefined,
      null,
      true,
      0,
      -1,
      1.5,
      '',
      ' ',
      'x',
      '1000',
      [],
      [null],
      {},
      { x: 1 },
      'http://a.test',
    ];
    const change = fc.record({
      path: fc.constantFrom(...placesIn(FULL)),
      value: fc.constantFrom(...strange),
    });
    await fc.assert(
      fc.asyncProperty(change, async ({ path, value }) => {
        const errors = await errorsOf(having(path, value));
        if (errors.length === 0) expect(fits(having(path, value)) || fits.errors).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
