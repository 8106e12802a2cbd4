import type { JsonObject } from '#libs/protocol';
import { ANN, KNOWS_CALLERS } from '../support/callers.js';
import { useSharedStage } from '../support/shared-stage.js';
import { Api } from '../support/workflow.js';

const stage = useSharedStage(KNOWS_CALLERS);

const definition: JsonObject & { nodes: JsonObject[]; edges: JsonObject[] } = {
  name: 'w',
  language: 2,
  nodes: [
    { id: 'topic', type: 'input' },
    { id: 'draft', type: 'agent', config: { prompt: '{{topic}}' } },
    { id: 'out', type: 'output' },
  ],
  edges: [
    { from: 'topic', to: 'draft' },
    { from: 'draft', to: 'out', when: 'what stands here does not count' },
  ],
};

interface Answer {
  problems: JsonObject[];
  variables: { name: string; members?: string[] }[];
}

function check(body: JsonObject): ReturnType<typeof Api.prototype.call<Answer & { errors: { path: string }[] }>> {
  return new Api(stage.parley.url, ANN.headers).call('POST', '/expressions/check', body);
}

describe('POST /api/expressions/check', () => {
  it('says what is wrong with an expression where it stands, and what it may name', async () => {
    const path = 'edges[1].when';
    const right = await check({ expression: "nodes.draft.data.ok || inputs.topic != ''", definition, path });
    expect([right.status, right.body.problems]).toEqual([200, []]);
    expect(right.body.variables.find(({ name }) => name === 'nodes')?.members).toEqual(['topic', 'draft']);
    const wrong = await check({ expression: 'nodes.out.data.ok', definition, path });
    expect([wrong.status, wrong.body.problems]).toEqual([
      200,
      [expect.objectContaining({ severity: 'error', code: 'LATER_REFERENCE', path, edge: 1, offset: 6 })],
    ]);
  });

  it('says it of a text as well', async () => {
    const path = 'nodes[1].config.prompt';
    const { body } = await check({ template: 'On {{topik}}: ${inputs.topik}', definition, path });
    expect(body.problems).toEqual([
      expect.objectContaining({ code: 'INVALID_EXPRESSION', severity: 'error', path, node: 'draft', offset: 23 }),
      expect.objectContaining({ code: 'UNKNOWN_REFERENCE', severity: 'warning', path, node: 'draft', offset: 3 }),
    ]);
  });

  it('checks the syntax alone where nothing is said of a place', async () => {
    expect((await check({ expression: 'nodes.any.data + 1' })).body).toEqual({ problems: [], variables: [] });
    expect((await check({ expression: 'nodes.any.data +' })).body.problems).toHaveLength(1);
  });

  it('takes a definition with other errors', async () => {
    const edges = [...definition.edges, { from: 'out', to: 'topic' }, { from: 'nobody', to: 'draft' }];
    const broken = { ...definition, deadline: 'soon', edges };
    const { status, body } = await check({
      expression: 'nodes.out.data.ok',
      definition: broken,
      path: 'edges[3].when',
    });
    expect([status, body.problems]).toEqual([200, []]);
  });

  it.each<[JsonObject, string]>([
    [{}, 'expression'],
    [{ expression: 'true', template: 'x' }, 'expression'],
    [{ expression: 5 }, 'expression'],
    [{ expression: 'true', definition: [] }, 'definition'],
    [
      { expression: 'true', definition: { ...definition, nodes: [{ id: 5, type: 'agent' }] } },
      'definition.nodes[0].id',
    ],
    [{ expression: 'true', definition, path: 'edges[2].when' }, 'path'],
    [{ expression: 'true', definition, path: 'name' }, 'path'],
    [{ expression: 'true', definition, path: 5 }, 'path'],
  ])('refuses %j, naming %s', async (body, path) => {
    const reply = await check(body);
    expect([reply.status, reply.body.errors[0]?.path]).toEqual([400, path]);
  });

  it('is asked by callers of this service alone', async () => {
    const { status } = await new Api(stage.parley.url).call('POST', '/expressions/check', { expression: 'true' });
    expect(status).toBe(401);
  });
});
