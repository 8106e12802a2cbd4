import type { JsonObject } from '#libs/protocol';
import { diffDefinitions } from './definition-diff.js';
import { ChangeCollector, MOST_CHANGES } from './json-changes.js';
import type { WorkflowDefinition } from './workflow.js';

function definition(parts: Partial<WorkflowDefinition>): WorkflowDefinition {
  return { name: 'w', nodes: [], edges: [], ...parts };
}

function node(id: string, config: WorkflowDefinition['nodes'][number]['config'] = {}): WorkflowDefinition['nodes'][0] {
  return { id, type: 'agent', config };
}

describe('diffDefinitions', () => {
  it('finds added, removed, changed and moved nodes, whatever their order', () => {
    const before = definition({
      nodes: [
        node('same'),
        node('gone'),
        node('other', { prompt: 'a' }),
        { ...node('placed'), position: { x: 1, y: 1 } },
      ],
    });
    const after = definition({
      nodes: [
        { ...node('placed'), position: { x: 2, y: 1 } },
        node('other', { prompt: 'b' }),
        node('new'),
        node('same'),
      ],
    });
    expect(diffDefinitions(before, after)).toEqual({
      fields: [],
      nodes: [
        { id: 'placed', type: 'agent', change: 'moved', fields: [{ path: 'position.x', before: 1, after: 2 }] },
        { id: 'other', type: 'agent', change: 'changed', fields: [{ path: 'config.prompt', before: 'a', after: 'b' }] },
        { id: 'new', type: 'agent', change: 'added', fields: [] },
        { id: 'gone', type: 'agent', change: 'removed', fields: [] },
      ],
      edges: [],
      truncated: false,
    });
  });

  it('matches edges by their ends, and several between the same nodes by what they are', () => {
    const before = definition({
      edges: [
        { from: 'a', to: 'b', when: 'x' },
        { from: 'a', to: 'b', on: 'failure' },
        { from: 'b', to: 'c' },
      ],
    });
    const after = definition({
      edges: [
        { from: 'a', to: 'b', on: 'failure' },
        { from: 'a', to: 'b', when: 'y' },
        { from: 'c', to: 'd' },
      ],
    });
    expect(diffDefinitions(before, after).edges).toEqual([
      { from: 'a', to: 'b', change: 'changed', index: 1, fields: [{ path: 'when', before: 'x', after: 'y' }] },
      { from: 'c', to: 'd', change: 'added', index: 2, fields: [] },
      { from: 'b', to: 'c', change: 'removed', index: 2, fields: [] },
    ]);
  });

  it('finds changes of other members and inside of inline workflows, whose nodes it matches by id', () => {
    const inner = (prompt: string, ...more: string[]) => ({
      body: { nodes: [...more.map((id) => ({ id })), { id: 'draft', config: { 'a key': prompt } }] },
    });
    const before = definition({ description: 'old', nodes: [node('in', inner('1'))] });
    const after = definition({ parallel: 2, nodes: [node('in', inner('2', 'first'))] });
    const found = diffDefinitions(before, after);
    expect(found.fields).toEqual([
      { path: 'description', before: 'old' },
      { path: 'parallel', after: 2 },
    ]);
    expect(found.nodes[0]?.fields).toEqual([
      { path: 'config.body.nodes[draft].config["a key"]', before: '1', after: '2' },
      { path: 'config.body.nodes[first]', after: { id: 'first' } },
    ]);
  });

  it('shows a list as a whole if its entries with ids are in another order, except nodes of inline workflows', () => {
    const [x, y, z] = [{ id: 'x' }, { id: 'y' }, { id: 'z' }];
    const changed = (before: JsonObject, after: JsonObject) =>
      diffDefinitions(definition({ nodes: [node('in', before)] }), definition({ nodes: [node('in', after)] })).nodes;
    const whole = { path: 'config.cases', before: [x, y], after: [y, x, z] };
    expect(changed({ cases: whole.before }, { cases: whole.after })).toMatchObject([{ fields: [whole] }]);
    const added = [{ path: 'config.cases[z]', after: z }];
    expect(changed({ cases: [x, y] }, { cases: [z, x, y] })).toMatchObject([{ fields: added }]);
    expect(changed({ body: { nodes: [x, y] } }, { body: { nodes: [y, x] } })).toEqual([]);
  });

  it('reports at most 1,000 differences', () => {
    const ids = Array.from({ length: 700 }, (_, index) => `n${index}`);
    const before = definition({ nodes: ids.map((id) => node(id)) });
    const after = definition({ nodes: ids.map((id) => node(`${id}_new`)) });
    const found = diffDefinitions(before, after);
    expect([found.nodes.length, found.truncated]).toEqual([MOST_CHANGES, true]);
    expect(diffDefinitions(before, before)).toEqual({ fields: [], nodes: [], edges: [], truncated: false });
  });

  it('compares values far inside, and those behind a long path, as a whole', () => {
    const nested = (depth: number, leaf: number): object => (depth === 0 ? { leaf } : { in: nested(depth - 1, leaf) });
    const paths = (one: object, other: object): string[] =>
      new ChangeCollector().listChanges(one as never, other as never).map(({ path }) => path);
    expect(paths(nested(20, 1), nested(20, 2))).toEqual(['in.in.in.in.in.in.in.in']);
    const long = 'k'.repeat(1_000);
    expect(paths({ [long]: { a: 1, b: 1 } }, { [long]: { a: 2, b: 2 } })).toEqual([`["${long}"]`]);
  });
});
