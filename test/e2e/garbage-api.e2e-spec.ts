import fc from 'fast-check';
import type { JsonObject } from '#libs/protocol';
import { useSharedStage } from '../support/shared-stage.js';
import { echo, input, linear, unique, type Workflow } from '../support/workflow.js';

const stage = useSharedStage();
let counts: Record<string, number>;
let name: string;

beforeAll(async () => {
  name = unique('kept');
  await stage.api.save(linear(name, echo('a')));
});

beforeEach(async () => (counts = await stage.database.counts()));
afterEach(async () => expect(await stage.database.counts()).toEqual(counts));

interface Problem extends JsonObject {
  status: number;
}

/** Checks the shape of an error of `/api` (RFC 9457) and gives it. */
function problem(reply: { status: number; headers: Headers; text: string; body: unknown }): Problem {
  expect(reply.status).toBeGreaterThanOrEqual(400);
  expect(reply.status).toBeLessThan(500);
  expect(reply.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(reply.body).toMatchObject({ status: reply.status, title: expect.any(String) });
  expect(reply.text).not.toMatch(/\.(js|ts):\d+|node_modules|SELECT |QueryFailed/);
  return reply.body as Problem;
}

describe('garbage at /api: problem+json, never a 5xx, nothing stored', () => {
  it.each([
    ['a lone brace', '{'],
    ['a list', '[]'],
    ['a string', '"x"'],
    ['null', 'null'],
    ['nothing', ''],
    ['words', 'hello'],
  ])('a workflow that is %s', async (_what, body) => {
    problem(await stage.api.call('POST', '/workflows', body));
    problem(await stage.api.call('PUT', `/workflows/${name}`, body));
  });

  it.each<[string, JsonObject, string]>([
    ['no name', { nodes: [{ id: 'a', type: 'agent' }], edges: [] }, 'name'],
    ['a name with a slash', { ...linear('a/b', echo('a')) } as never, 'name'],
    ['a name of 65 characters', { ...linear('x'.repeat(65), echo('a')) } as never, 'name'],
    ['a name that is a number', { name: 5, nodes: [{ id: 'a', type: 'agent' }], edges: [] }, 'name'],
    ['nodes that are an object', { name: 'w', nodes: {}, edges: [] }, 'nodes'],
    ['a node without an id', { name: 'w', nodes: [{ type: 'agent' }], edges: [] }, 'id'],
    ['a node with a space in its id', { name: 'w', nodes: [{ id: 'a b', type: 'agent' }], edges: [] }, 'id'],
    ['a node without a type', { name: 'w', nodes: [{ id: 'a' }], edges: [] }, 'type'],
    ['a node of an unknown type', { name: 'w', nodes: [{ id: 'a', type: 'teleport' }], edges: [] }, 'teleport'],
    ['a config that is a list', { name: 'w', nodes: [{ id: 'a', type: 'agent', config: [] }], edges: [] }, 'config'],
    ['edges that are words', { name: 'w', nodes: [{ id: 'a', type: 'agent' }], edges: 'a-b' }, 'edges'],
    ['an edge without an end', { name: 'w', nodes: [{ id: 'a', type: 'agent' }], edges: [{ from: 'a' }] }, 'to'],
    [
      'another onFailure',
      { name: 'w', nodes: [{ id: 'a', type: 'agent' }], edges: [], onFailure: 'panic' },
      'onFailure',
    ],
  ])('a workflow with %s is refused by name', async (_what, body, field) => {
    const reply = await stage.api.call('POST', '/workflows', body);
    problem(reply);
    expect([400, 422]).toContain(reply.status);
    expect(reply.text).toContain(field);
  });

  it('an apply of a workflow whose name has a NUL is refused by name', async () => {
    const workflows = [{ definition: { ...linear('a\u0000', echo('a')) } }];
    const reply = await stage.api.call('POST', '/apply', { workflows });
    expect(problem(reply)).toMatchObject({ status: 422, errors: [{ path: 'workflows[0].definition.name' }] });
  });

  it('422 has one entry for every problem', async () => {
    const reply = await stage.api.call('POST', '/workflows', {
      name: 'many',
      nodes: [
        { id: 'a', type: 'teleport' },
        { id: 'b', type: 'external', config: {} },
        { id: 'b', type: 'agent' },
      ],
      edges: [
        { from: 'a', to: 'ghost' },
        { from: 'nobody', to: 'a' },
      ],
    });
    expect(reply.status).toBe(422);
    const lists = Object.values(problem(reply)).filter((value): value is string[] => Array.isArray(value));
    expect(lists).toHaveLength(1);
    const entries = (lists[0] ?? []).map((entry) => JSON.stringify(entry));
    for (const text of [
      'teleport',
      'missing endpoint_url config',
      'duplicate node ID: b',
      'unknown node: ghost',
      'unknown node: nobody',
    ]) {
      expect(entries.filter((entry) => entry.includes(text))).toHaveLength(1);
    }
    expect(entries).toHaveLength(5);
  });

  it('a body of 10 MB is 413', async () => {
    const reply = await stage.api.call('POST', '/workflows', {
      ...linear('big', echo('a')),
      description: 'x'.repeat(10 * 1024 * 1024),
    });
    problem(reply);
    expect(reply.status).toBe(413);
  });

  it('nesting of 100,000 levels is refused', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    problem(
      await stage.api.call(
        'POST',
        '/workflows',
        `{"name":"deep","nodes":[{"id":"a","type":"agent","config":{"x":${deep}}}],"edges":[]}`,
      ),
    );
    problem(await stage.api.call('POST', `/workflows/${name}/runs`, `{"inputs":{"a":${deep}}}`));
  });

  it.each<[string, unknown]>([
    ['a list', { inputs: [] }],
    ['words', { inputs: 'hello' }],
    ['a number', { inputs: 5 }],
  ])('inputs of a run that are %s are refused', async (_what, body) => {
    const reply = await stage.api.call('POST', `/workflows/${name}/runs`, body);
    problem(reply);
    expect(reply.text).toContain('inputs');
  });

  it.each([
    ['NUL', 'a\u0000b'],
    ['a lone surrogate', 'a\ud800b'],
  ])('%s in a workflow or an input is refused by name, or carried without a loss', async (_what, odd) => {
    const workflow = { ...linear(unique('odd'), echo('a', { prompt: `${odd} {{i}}` }), input('i')), description: odd };
    const reply = await stage.api.call<Workflow>('POST', '/workflows', workflow);
    if (reply.status === 201)
      expect((await stage.api.call('GET', `/workflows/${workflow.name}`)).body).toMatchObject({
        description: odd,
        nodes: [{ config: { prompt: `${odd} {{i}}` } }, {}],
      });
    else expect(problem(reply).status).toBe(422);
    const started = await stage.api.call<{ runId: string }>('POST', `/workflows/${name}/runs`, { inputs: { a: odd } });
    if (started.status === 202) expect((await stage.api.ended(started.body.runId)).inputs).toEqual({ a: odd });
    else expect(JSON.stringify(problem(started))).toContain('inputs');
    counts = await stage.database.counts();
  });

  it.each(['/runs?q', '/inbox?assignee', '/deliveries?taskId'])('NUL in %s is refused by name', async (query) => {
    for (const value of ['%00', 'a%00b']) {
      const refused = problem(await stage.api.call('GET', `${query}=${value}`));
      expect(JSON.stringify(refused)).toContain(query.split('?')[1]);
    }
  });

  it('a path that is no URL component is refused in the shape of its surface', async () => {
    problem(await stage.api.call('GET', '/runs/%'));
    const response = await fetch(`${stage.parley.url}/a2a/workflows/%`, { headers: { 'a2a-version': '1.0' } });
    expect(response.status).toBeLessThan(500);
    expect(await response.json()).toMatchObject({ error: { code: response.status } });
  });

  it('unknown routes and methods', async () => {
    for (const [method, path] of [
      ['GET', '/nope'],
      ['POST', '/runs'],
      ['DELETE', '/workflows'],
      ['PATCH', `/workflows/${name}`],
      ['GET', '/runs/nope'],
      ['GET', '/runs/nope/events'],
      ['POST', '/runs/nope/cancel'],
      ['POST', '/workflows/nope/runs'],
      ['GET', '/runs/%00'],
      ['GET', '/workflows/a%2Fb'],
      ['GET', '/runs?pageToken=garbage'],
      ['GET', '/runs?pageToken=%00'],
      ['GET', '/runs?status=sleeping'],
    ] as const) {
      const reply = await stage.api.call(method, path);
      expect({ method, path, status: reply.status }).toEqual({ method, path, status: expect.any(Number) });
      problem(reply);
    }
  });

  it('a query of a workflow or name with odd characters finds nothing and breaks nothing', async () => {
    for (const odd of ["'; DROP TABLE workflow; --", '%00', '%ff', '..%2f..%2fetc%2fpasswd', '%F0%9F%98%80']) {
      const reply = await stage.api.call('GET', `/workflows/${odd}`);
      expect(reply.status).toBeGreaterThanOrEqual(400);
      expect(reply.status).toBeLessThan(500);
    }
  });

  it('any JSON whatever as a workflow is refused as a problem', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (body) => {
        problem(await stage.api.call('POST', '/workflows', JSON.stringify(body)));
      }),
      { numRuns: 100 },
    );
  });

  it('a route outside of everything is 404, and shows no internals', async () => {
    for (const path of ['/nope', '/a2a/nope', '/../../etc/passwd', '/%00', '/%']) {
      const response = await fetch(`${stage.parley.url}${path}`, {
        method: 'POST',
        body: '{}',
        headers: { 'content-type': 'application/json' },
      });
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(response.status).toBeLessThan(500);
      expect(await response.text()).not.toMatch(/\.(js|ts):\d+|node_modules/);
    }
  });
});
