import type { JsonObject } from '#libs/protocol';
import type { ExpressionPlace } from './expression-places.js';
import { checkAlone, type CheckedExpression, checkInDefinition } from './expression-problems.js';
import { readDefinition } from './sent-definition.js';
import { GOOD, having } from './testing/checked-definitions.js';
import type { WorkflowDefinition } from './workflow.js';

function definition(sent: JsonObject = GOOD): WorkflowDefinition {
  const read = readDefinition(sent);
  if (Array.isArray(read)) throw new Error(JSON.stringify(read));
  return read;
}

function found({ problems }: CheckedExpression = { problems: [], variables: [] }): unknown[] {
  return problems.map(({ severity, code, path, offset }) => [severity, code, path, offset]);
}

function at(path: string, content: ExpressionPlace['content'] | string, sent?: JsonObject): unknown[] {
  return found(
    checkInDefinition(typeof content === 'string' ? { expression: content } : content, definition(sent), path),
  );
}

describe('an expression at a place of a definition', () => {
  it.each([
    ['edges[3].when', "nodes.gate.data.ok && inputs.topic != ''"],
    ['edges[2].loop.exit_when', 'iteration > 1 && nodes.gate.data.ok'],
    ['nodes[1].each.items', 'nodes.topic.data'],
    ['nodes[1].retry.when', "error.kind == 'failed' && iteration == 1"],
    ['nodes[4].config.prompt', 'error.message + nodes.out.text'],
  ])('at %s may be %s', (path, expression) => {
    expect(at(path, expression)).toEqual([]);
  });

  it.each([
    ['edges[3].when', 'nodes.gate.data.ok &&', 'INVALID_EXPRESSION', 19],
    ['edges[3].when', 'nodes.nobody.data', 'INVALID_EXPRESSION', 6],
    ['edges[3].when', 'nodes.out.data', 'LATER_REFERENCE', 6],
    ['edges[3].when', 'iteration > 1', 'INVALID_EXPRESSION', 0],
    ['edges[3].when', 'inputs', 'INVALID_EXPRESSION', 0],
    ['edges[0].loop.exit_when', 'nodes.out.data', 'LATER_REFERENCE', 6],
    ['nodes[1].each.items', '[item]', 'INVALID_EXPRESSION', 1],
    ['nodes[1].config.until', 'now', 'INVALID_EXPRESSION', 0],
    ['nodes[3].config.prompt', 'error.message', 'INVALID_EXPRESSION', 0],
  ])('at %s is not %s: %s at %d', (path, expression, code, offset) => {
    expect(at(path, expression)).toEqual([['error', code, path, offset]]);
  });

  it('is described without its place, which stands beside', () => {
    expect(checkInDefinition({ expression: 'nodes.nobody.data' }, definition(), 'edges[3].when')?.problems).toEqual([
      {
        severity: 'error',
        code: 'INVALID_EXPRESSION',
        detail: 'nodes has no "nobody"',
        path: 'edges[3].when',
        edge: 3,
        offset: 6,
      },
    ]);
  });

  it('counts, and not what stands there', () => {
    const sent = having('edges.3', { when: 'nonsense +' });
    expect(at('edges[3].when', 'nodes.gate.data.ok', sent)).toEqual([]);
  });

  it('may stand in a definition that has other errors', () => {
    const sent = having('', {
      edges: [
        { from: 'draft', to: 'out' },
        { from: 'out', to: 'draft' },
        { from: 'x', to: 'y' },
      ],
    });
    expect(at('edges[0].when', "nodes.out.data == 'x' || iteration > 1", sent)).toEqual([]);
    expect(at('edges[2].when', 'nodes.nobody.data', sent)).toEqual([
      ['error', 'INVALID_EXPRESSION', 'edges[2].when', 6],
    ]);
  });

  it.each(['edges[4].when', 'nodes[5].each.items', 'nodes[1]', 'edges', '', 'nodes[-1].x', 'onExit[0].node'])(
    'stands at a member of a node or an edge that is there, not at "%s"',
    (path) => {
      expect(checkInDefinition({ expression: 'true' }, definition(), path)).toBeUndefined();
    },
  );

  it('may name what is known there', () => {
    const fields = ['status', 'text', 'data', 'artifacts', 'error', 'attempts', 'loop'];
    const shown = (path: string, sent?: JsonObject): unknown =>
      checkInDefinition({ expression: 'true' }, definition(sent), path)?.variables;
    expect(shown('edges[3].when')).toEqual([
      { name: 'inputs', members: ['topic'] },
      { name: 'nodes', members: ['topic', 'draft', 'gate'], fields },
      { name: 'run', members: ['id', 'workflow', 'revision', 'contextId', 'startedAt', 'conversation'] },
    ]);
    const names = (path: string, sent?: JsonObject): string[] =>
      (shown(path, sent) as { name: string }[]).slice(3).map(({ name }) => name);
    const each = having('nodes.1', { each: { items: '[]' } });
    expect(names('nodes[1].retry.when', each)).toEqual(['item', 'index', 'iteration', 'error']);
    expect(names('nodes[1].each.items', each)).toEqual(['iteration']);
    const pause = having('nodes.3', { type: 'wait' });
    expect(names('nodes[3].config.until', pause)).toEqual(['now']);
  });
});

describe('a template at a place of a definition', () => {
  const path = 'nodes[1].config.data';

  it('has problems at their paths, of {{references}} as well', () => {
    const template = { a: ['${nodes.nobody.text}', 'x ${nodes.out.text} {{out}}'], b: '{{nobody}} {{topic}}' };
    expect(at(path, { template })[0]).toEqual(['error', 'INVALID_EXPRESSION', `${path}.a[0]`, 8]);
    expect(at(path, { template: { ...template, a: template.a.slice(1) } })).toEqual([
      ['error', 'LATER_REFERENCE', `${path}.a[0]`, 10],
      ['warning', 'LATER_REFERENCE', `${path}.a[0]`, 20],
      ['warning', 'UNKNOWN_REFERENCE', `${path}.b`, 0],
    ]);
  });

  it('has no expressions without language 2', () => {
    expect(at(path, { template: '${ {{nobody}}' }, having('', { language: 1 }))).toEqual([
      ['warning', 'UNKNOWN_REFERENCE', path, 3],
    ]);
  });

  it('has no more than a definition may have', () => {
    expect(at(path, { template: '${+}'.repeat(1_001) })).toEqual([['error', 'TOO_MANY_EXPRESSIONS', path, undefined]]);
    expect(at(path, { template: '${+}'.repeat(1_000) })).toHaveLength(100);
    expect(at(path, { template: '{{nobody}}'.repeat(10_000) })).toHaveLength(100);
  });
});

describe('an expression that stands nowhere', () => {
  it('is read', () => {
    const alone = (expression: string) => found(checkAlone({ expression }));
    expect(alone('nodes.a.data + item + iteration + error.kind + now + inputs.x')).toEqual([]);
    expect(alone('nodes.a.data +')).toEqual([['error', 'INVALID_EXPRESSION', '', 13]]);
    expect(alone('nobody')).toEqual([['error', 'INVALID_EXPRESSION', '', 0]]);
    expect(found(checkAlone({ template: { a: ['${nobody}'] } }))).toEqual([['error', 'INVALID_EXPRESSION', 'a[0]', 2]]);
  });

  it('knows the nodes of its definition', () => {
    expect(found(checkAlone({ expression: 'nodes.nobody.data' }, definition()))).toEqual([
      ['error', 'INVALID_EXPRESSION', '', 6],
    ]);
    expect(found(checkAlone({ expression: 'nodes.out.data' }, definition()))).toEqual([]);
  });
});
