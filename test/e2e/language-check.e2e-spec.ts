import type { JsonObject, JsonValue } from '#libs/protocol';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { useSharedStage } from '../support/shared-stage.js';
import { unique } from '../support/workflow.js';

const stage = useSharedStage();

/** Says everything that can be said. */
const FULL = {
  language: 2,
  deadline: '2h',
  parallel: 20,
  onFailure: 'continue',
  nodes: [
    { id: 'topic', type: 'input', config: { schema: { type: 'string' } } },
    {
      id: 'draft',
      type: 'agent',
      config: { prompt: '{{topic}} ${iteration > 1 ? nodes.review.text : inputs.topic}', data: { n: '${iteration}' } },
      timeout: '2m',
      retry: {
        attempts: 4,
        on: ['timeout'],
        when: "error.kind != 'failed'",
        delay: '1s',
        factor: 2,
        maxDelay: '1m',
        jitter: 0.5,
      },
      output: { schema: { type: 'object' }, parse: true },
      fallback: { parts: [{ text: '${error.message}' }, { data: { a: null } }] },
    },
    { id: 'review', type: 'set', config: { values: { ok: '${size(nodes.draft.text) > 3}' } } },
    {
      id: 'each',
      type: 'agent',
      config: { prompt: '${string(item)}' },
      each: { items: '[nodes.draft.text]', concurrency: 5, maxItems: 10, onFailure: 'collect', minSuccess: '80%' },
    },
    { id: 'pause', type: 'wait', config: { until: "now + duration('1s')" } },
    {
      id: 'gate',
      type: 'human',
      branch: 'first',
      config: { prompt: 'Publish?', assignee: 'editors', form: { type: 'object', required: ['decision'] } },
      onWait: { deadline: '48h', default: { decision: 'no' } },
    },
    {
      id: 'child',
      type: 'workflow',
      config: { body: { nodes: [{ id: 'n', type: 'input' }] }, inputs: { n: '${1}' } },
    },
    { id: 'out', type: 'output', config: {}, join: { n: 1, cancelRest: true } },
    { id: 'notify', type: 'agent', config: { prompt: '${error == null}' } },
  ],
  edges: [
    { from: 'topic', to: 'draft' },
    { from: 'draft', to: 'review' },
    {
      from: 'review',
      to: 'draft',
      loop: { max_iterations: 3, exit_when: 'nodes.review.data.ok', delay: '1s', on_max: 'fail', initial: 'none' },
    },
    { from: 'review', to: 'each' },
    { from: 'each', to: 'pause' },
    { from: 'pause', to: 'gate' },
    { from: 'gate', to: 'child', when: "nodes.gate.data.decision == 'yes'" },
    { from: 'gate', to: 'out' },
    { from: 'child', to: 'out', on: 'always' },
  ],
  onExit: [{ node: 'notify', on: 'failure' }],
};

/** The full definition with these members of what is at a path. */
function having(path: string, members: JsonObject): JsonObject {
  const copy = structuredClone(FULL) as unknown as JsonObject;
  const keys = path === '' ? [] : path.split('.');
  const holder = keys.reduce<JsonValue>((at, key) => (at as JsonObject)[key] ?? null, copy);
  Object.assign(holder as JsonObject, members);
  return copy;
}

interface Problem extends JsonObject {
  severity: string;
  code: string;
  path: string;
}

async function check(definition: JsonObject): Promise<Problem[]> {
  const reply = await stage.api.call<{ problems: Problem[] }>('POST', '/workflows/check', { name: 'w', ...definition });
  expect({ status: reply.status, said: reply.text.slice(0, 500) }).toMatchObject({ status: 200 });
  return reply.body.problems;
}

/** What a save is refused for, which has written nothing. */
async function refusal(definition: JsonObject): Promise<{ status: number; errors: Problem[] }> {
  const name = unique('refused');
  const { status, body } = await stage.api.call<{ errors: Problem[] }>('PUT', `/workflows/${name}`, definition);
  expect((await stage.api.call('GET', `/workflows/${name}`)).status).toBe(404);
  return { status, errors: body.errors };
}

type Refused = [path: string, members: JsonObject, code: string, where: string, offset?: number];

describe('a definition that says everything', () => {
  it('is saved as it was said, and has nothing that anybody is warned of', async () => {
    const name = unique('full');
    const saved = await stage.api.call('POST', '/workflows', { name, ...FULL });
    expect([saved.status, saved.body['problems']]).toEqual([201, undefined]);
    const { body } = await stage.api.call('GET', `/workflows/${name}`);
    const { revision: _, createdAt: __, updatedAt: ___, ...definition } = body;
    expect(definition).toEqual({ name, ...FULL });
  });

  it('may leave out all of it: nothing that is not said is stored', async () => {
    const name = unique('plain');
    const nodes = [{ id: 'a', type: 'agent', config: {} }];
    const nothing = { retry: null, join: null, each: null, fallback: null, output: null, onWait: null, timeout: null };
    const sent = { name, nodes: [{ ...nodes[0], ...nothing }], language: null, deadline: null, onExit: null };
    expect((await stage.api.call('POST', '/workflows', sent)).status).toBe(201);
    const { text } = await stage.api.call('GET', `/workflows/${name}`);
    expect(text).toMatch(
      new RegExp(`^${RegExp.escape(`{"name":"${name}","nodes":${JSON.stringify(nodes)},"edges":[],"revision":`)}`),
    );
  });
});

describe('a definition is refused, and nothing written, for', () => {
  it.each<Refused>([
    ['', { language: 3 }, 'UNKNOWN_LANGUAGE', 'language'],
    ['', { deadline: '2 hours' }, 'INVALID_DURATION', 'deadline'],
    ['', { deadline: '366d' }, 'INVALID_DURATION', 'deadline'],
    ['', { parallel: 0 }, 'OUT_OF_RANGE', 'parallel'],
    ['', { concurrency: { limit: 0 } }, 'OUT_OF_RANGE', 'concurrency.limit'],
    ['', { concurrency: { limit: 1, key: 'item' } }, 'INVALID_EXPRESSION', 'concurrency.key'],
    ['', { budget: { onExceeded: 'ask' } }, 'EMPTY_BUDGET', 'budget'],
    ['', { budget: { usd: 0 } }, 'OUT_OF_RANGE', 'budget.usd'],
    ['', { budget: { tokens: 0.5 } }, 'OUT_OF_RANGE', 'budget.tokens'],
    ['', { onExit: [{ node: 'notify' }, { node: 'nobody' }] }, 'UNKNOWN_NODE', 'onExit[1].node'],
    ['', { onExit: [{ node: 'notify' }, { node: 'draft' }] }, 'INVALID_EXIT', 'onExit[1].node'],
    ['nodes.1', { timeout: '0s' }, 'INVALID_DURATION', 'nodes[1].timeout'],
    ['nodes.1.retry', { attempts: 0 }, 'OUT_OF_RANGE', 'nodes[1].retry.attempts'],
    ['nodes.1.retry', { on: ['timeout', 'luck'] }, 'UNKNOWN_FAILURE_KIND', 'nodes[1].retry.on[1]'],
    ['nodes.1.retry', { jitter: 2 }, 'OUT_OF_RANGE', 'nodes[1].retry.jitter'],
    ['nodes.1.retry', { factor: 0 }, 'OUT_OF_RANGE', 'nodes[1].retry.factor'],
    ['nodes.1.retry', { delay: 'a while' }, 'INVALID_DURATION', 'nodes[1].retry.delay'],
    ['nodes.1.retry', { when: 'item' }, 'INVALID_EXPRESSION', 'nodes[1].retry.when', 0],
    ['nodes.1.fallback', { parts: [{ text: 'x' }, {}] }, 'INVALID_PART', 'nodes[1].fallback.parts[1]'],
    ['nodes.1.fallback', { parts: [{ text: '${nope}' }] }, 'INVALID_EXPRESSION', 'nodes[1].fallback.parts[0].text', 2],
    ['nodes.1.output', { schema: { type: 'x' } }, 'INVALID_SCHEMA', 'nodes[1].output.schema'],
    ['nodes.1.output', { schema: { $ref: 'http://127.0.0.1:1/' } }, 'INVALID_SCHEMA', 'nodes[1].output.schema'],
    ['nodes.1.output', { schema: { pattern: '(?=x)' } }, 'INVALID_SCHEMA', 'nodes[1].output.schema'],
    ['nodes.1', { config: { output: {} } }, 'CONFLICTING_OUTPUT', 'nodes[1].output'],
    ['nodes.1.config', { prompt: 'x ${nodes.out.text}' }, 'LATER_REFERENCE', 'nodes[1].config.prompt', 10],
    ['nodes.1.config', { data: { n: ['${item}'] } }, 'INVALID_EXPRESSION', 'nodes[1].config.data.n[0]', 2],
    ['nodes.2.config', { values: { ok: '${now}' } }, 'INVALID_EXPRESSION', 'nodes[2].config.values.ok', 2],
    ['nodes.2', { config: {} }, 'INVALID_CONFIG', 'nodes[2].config.values'],
    ['nodes.3.each', { items: '[iteration]' }, 'INVALID_EXPRESSION', 'nodes[3].each.items', 1],
    ['nodes.3.each', { items: 'nodes.each.data' }, 'LATER_REFERENCE', 'nodes[3].each.items', 6],
    ['nodes.3.each', { concurrency: 0 }, 'OUT_OF_RANGE', 'nodes[3].each.concurrency'],
    ['nodes.3.each', { maxItems: 10_001 }, 'OUT_OF_RANGE', 'nodes[3].each.maxItems'],
    ['nodes.3.each', { minSuccess: '101%' }, 'OUT_OF_RANGE', 'nodes[3].each.minSuccess'],
    ['nodes.3.each', { minSuccess: 11 }, 'OUT_OF_RANGE', 'nodes[3].each.minSuccess'],
    ['nodes.4.config', { until: 'tomorrow' }, 'INVALID_EXPRESSION', 'nodes[4].config.until', 0],
    ['nodes.4', { config: { for: '2y' } }, 'INVALID_CONFIG', 'nodes[4].config.for'],
    ['nodes.4', { config: { for: '366d' } }, 'INVALID_CONFIG', 'nodes[4].config.for'],
    ['nodes.4', { config: {} }, 'INVALID_CONFIG', 'nodes[4].config'],
    ['nodes.5.config', { form: { type: 'x' } }, 'INVALID_SCHEMA', 'nodes[5].config.form'],
    ['nodes.5.onWait', { default: {} }, 'INVALID_DEFAULT', 'nodes[5].onWait.default'],
    ['nodes.5.onWait', { deadline: '-1s' }, 'INVALID_DURATION', 'nodes[5].onWait.deadline'],
    ['nodes.6.config', { inputs: {} }, 'MISSING_INPUT', 'nodes[6].config.inputs.n'],
    ['nodes.6.config.body', { budget: {} }, 'EMPTY_BUDGET', 'nodes[6].config.body.budget'],
    ['nodes.6.config.body', { edges: [{ from: 'x', to: 'n' }] }, 'UNKNOWN_NODE', 'nodes[6].config.body.edges[0].from'],
    ['nodes.7', { join: { n: 3 } }, 'INVALID_JOIN', 'nodes[7].join.n'],
    ['edges.2.loop', { max_iterations: 101 }, 'OUT_OF_RANGE', 'edges[2].loop.max_iterations'],
    ['edges.2.loop', { exit_when: 'nodes.gate.data.x' }, 'LATER_REFERENCE', 'edges[2].loop.exit_when', 6],
    ['edges.2.loop', { delay: 'a while' }, 'INVALID_DURATION', 'edges[2].loop.delay'],
    ['edges.2', { from: 'topic', to: 'out' }, 'INVALID_LOOP', 'edges[2]'],
    ['edges.6', { when: 'nodes.gate.data.decision = 1' }, 'INVALID_EXPRESSION', 'edges[6].when', 25],
    ['edges.6', { when: 'nodes.nobody.data' }, 'INVALID_EXPRESSION', 'edges[6].when', 6],
    ['edges.6', { when: 'inputs' }, 'INVALID_EXPRESSION', 'edges[6].when', 0],
    ['edges.6', { when: "error.kind == 'x'" }, 'INVALID_EXPRESSION', 'edges[6].when', 0],
    ['edges.6', { when: null }, 'INVALID_BRANCH', 'edges[7].when'],
  ])('%s %j: %s at %s', async (...[path, members, code, where, offset]) => {
    const definition = having(path, members);
    const { status, errors } = await refusal(definition);
    expect(status).toBe(422);
    const place = offset === undefined ? {} : { offset };
    const owner = /^(nodes|edges)/.exec(where)?.[1];
    expect(errors).toEqual([
      expect.objectContaining({
        severity: 'error',
        code,
        path: where,
        ...place,
        ...(owner === 'nodes' && { node: expect.any(String) as string }),
        ...(owner === 'edges' && { edge: Number(/\d+/.exec(where)?.[0]) }),
      }),
    ]);
    expect((await check(definition)).filter(({ severity }) => severity === 'error')).toEqual(errors);
  });

  it.each<[string, JsonObject, string]>([
    ['', { language: '2' }, 'language'],
    ['nodes.1', { retry: { on: ['timeout'] } }, 'nodes[1].retry.attempts'],
    ['nodes.3', { each: 'inputs.topic' }, 'nodes[3].each'],
    ['nodes.7', { join: 'most' }, 'nodes[7].join'],
    ['edges.2', { loop: {} }, 'edges[2].loop.max_iterations'],
    ['edges.8', { on: 'error' }, 'edges[8].on'],
    ['onExit.0', { node: 5 }, 'onExit[0].node'],
  ])('%s %j, which is malformed at %s', async (path, members, where) => {
    const { status, errors } = await refusal(having(path, members));
    expect([status, errors.map((it) => it.path)]).toEqual([400, [where]]);
    expect(await check(having(path, members))).toEqual([
      expect.objectContaining({ severity: 'error', code: 'MALFORMED', path: where }),
    ]);
  });
});

describe('what is saved, and told', () => {
  it.each<Refused>([
    ['nodes.1.config', { timeout: 5 }, 'IGNORED_KEY', 'nodes[1].config.timeout'],
    ['nodes.3.each', { onFailure: 'fail' }, 'IGNORED_KEY', 'nodes[3].each.minSuccess'],
    ['nodes.1.retry', { tries: 3 }, 'UNKNOWN_KEY', 'nodes[1].retry.tries'],
    ['nodes.7', { config: { prompt: '{{notify}}' } }, 'LATER_REFERENCE', 'nodes[7].config.prompt', 0],
  ])('%s %j: %s at %s', async (...[path, members, code, where, offset]) => {
    const name = unique('warned');
    const { status, body } = await stage.api.call<{ problems: Problem[] }>(
      'PUT',
      `/workflows/${name}`,
      having(path, members),
    );
    const place = offset === undefined ? {} : { offset };
    const expected: unknown = expect.objectContaining({ severity: 'warning', code, path: where, ...place });
    expect([status, body.problems?.find((it) => it.code === code)]).toEqual([201, expected]);
  });

  it('`${` is text without language 2', async () => {
    const nodes = [{ id: 'a', type: 'agent', config: { prompt: 'costs ${5 +' } }];
    expect(await check({ nodes })).toEqual([]);
    expect(await check({ nodes, language: 1 })).toEqual([]);
    expect(await check({ nodes, language: 2 })).toMatchObject([{ code: 'INVALID_EXPRESSION', offset: 6 }]);
  });
});

describe('hostile definitions', () => {
  const nodes = [
    { id: 'a', type: 'agent' },
    { id: 'b', type: 'agent' },
  ];
  const conditions = (count: number, when: string): JsonObject => ({
    nodes,
    edges: Array.from({ length: count }, () => ({ from: 'a', to: 'b', when })),
  });

  it('have their expressions counted before any is read', async () => {
    // Each of them is wrong: were one read, that would be said.
    const long = `[${'[],'.repeat(600)}`;
    expect(await refusal(conditions(120, long))).toMatchObject({
      status: 422,
      errors: [{ code: 'TOO_MANY_EXPRESSIONS', path: 'edges[36].when', edge: 36 }],
    });
    expect((await refusal(conditions(1_001, '1+'))).errors).toMatchObject([
      { code: 'TOO_MANY_EXPRESSIONS', path: 'edges[1000].when', edge: 1000 },
    ]);
    const deep = having('nodes.6.config', { body: conditions(1_000, 'true'), inputs: {} });
    expect((await refusal(deep)).errors).toMatchObject([
      { code: 'TOO_MANY_EXPRESSIONS', path: expect.stringMatching(/^nodes\[6\]\.config\.body\.edges/) as string },
    ]);
  });

  it('may have as many as there may be', async () => {
    expect(await check(conditions(1_000, 'nodes.a.data == "0123456789 0123456789 0123456789 0123456789"'))).toEqual([]);
  });

  it('are answered with a hundred problems at most', async () => {
    expect(await check(conditions(1_000, 'nobody'))).toHaveLength(100);
  });

  it('have but so many edges back', async () => {
    const edges = Array.from({ length: 5_000 }, () => ({ from: 'a', to: 'a', loop: { max_iterations: 1 } }));
    expect(await check({ nodes: nodes.slice(0, 1), edges })).toMatchObject([
      { code: 'INVALID_LOOP', path: 'edges[100]' },
    ]);
  });
});

describe('GET /schemas/workflow.json', () => {
  let fits: ValidateFunction;

  beforeAll(async () => {
    const schema = (await (await fetch(`${stage.parley.url}/schemas/workflow.json`)).json()) as JsonObject;
    fits = new Ajv2020({ strict: true }).compile(schema);
  });

  it('takes all that can be said', () => {
    expect(fits({ name: 'w', ...FULL }) || fits.errors).toBe(true);
  });

  it('refuses nothing that the service takes, whatever is said at whatever place', async () => {
    const strange: (JsonValue | undefined)[] = [
      ...[undefined, null, true, 0, 1, -1, 1.5, '', 'x', 'true', '1s', '50%', '1000', 'all', 'first', 'fail'],
      ...[[], [null], {}, { x: 1 }, { n: 1 }, { text: 'x' }, [{ text: 'x' }], ['timeout']],
    ];
    const change = fc.record({ path: fc.constantFrom(...placesIn(FULL)), value: fc.constantFrom(...strange) });
    await fc.assert(
      fc.asyncProperty(change, async ({ path, value }) => {
        const definition = changed(path, value);
        const problems = await check(definition);
        if (problems.every(({ severity }) => severity === 'warning'))
          expect(fits({ name: 'w', ...definition }) || fits.errors).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

/** The full definition with something else at a path; `undefined` takes away what is there. */
function changed(path: string, value: JsonValue | undefined): JsonObject {
  const copy = structuredClone(FULL) as unknown as JsonObject;
  const keys = path.split('.');
  const holder = keys.slice(0, -1).reduce<JsonValue>((at, key) => (at as JsonObject)[key] ?? null, copy) as JsonObject;
  if (value === undefined) delete holder[keys.at(-1) ?? ''];
  else holder[keys.at(-1) ?? ''] = value;
  return copy;
}

/** Every place in a value. */
function placesIn(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [path];
  const inner = Object.entries(value).flatMap(([key, it]) => placesIn(it, path ? `${path}.${key}` : key));
  return path === '' ? inner : [path, ...inner];
}
