import { type ExpressionPlace, listExpressionPlaces } from './expression-places.js';
import type { WorkflowDefinition } from './workflow.js';

const DEFINITION: WorkflowDefinition = {
  name: 'w',
  language: 2,
  nodes: [
    {
      id: 'map',
      type: 'agent',
      config: { prompt: '${item}' },
      each: { items: 'inputs.list' },
      retry: { attempts: 2, when: "error.kind == 'failed'" },
      fallback: { parts: [{ text: '${error.message}' }] },
    },
    { id: 'pause', type: 'wait', config: { until: "now + duration('1h')" } },
    { id: 'notify', type: 'agent', config: { prompt: '${error.message}', until: 'x' } },
  ],
  edges: [
    { from: 'map', to: 'pause', when: 'true' },
    { from: 'map', to: 'pause', on: 'always', when: 'error == null' },
    { from: 'pause', to: 'map', loop: { max_iterations: 2, exit_when: 'iteration > 1' } },
    { from: 'map', to: 'pause' },
  ],
  onExit: [{ node: 'notify' }],
};

function shown({ path, node, edge, surroundings, content }: ExpressionPlace): unknown[] {
  const names = Object.entries(surroundings).flatMap(([name, there]) => (there === true ? [name] : []));
  return [path, node ?? edge, names.toSorted().join(' '), content];
}

function places(definition: WorkflowDefinition, isRepeated = true): unknown[] {
  return listExpressionPlaces(definition, () => isRepeated).map(shown);
}

describe('expressionPlaces', () => {
  it('has all of them, with what is known there', () => {
    expect(places(DEFINITION)).toEqual([
      ['nodes[0].each.items', 'map', 'iteration', { expression: 'inputs.list' }],
      ['nodes[0].retry.when', 'map', 'error item iteration', { expression: "error.kind == 'failed'" }],
      ['nodes[0].config.prompt', 'map', 'item iteration', { template: '${item}' }],
      ['nodes[0].fallback.parts', 'map', 'error item iteration', { template: [{ text: '${error.message}' }] }],
      ['nodes[1].config.until', 'pause', 'iteration now', { expression: "now + duration('1h')" }],
      ['nodes[2].config.prompt', 'notify', 'error iteration', { template: '${error.message}' }],
      ['edges[0].when', 0, 'iteration', { expression: 'true' }],
      ['edges[1].when', 1, 'error iteration', { expression: 'error == null' }],
      ['edges[2].loop.exit_when', 2, 'iteration', { expression: 'iteration > 1' }],
    ]);
  });

  it('knows no iteration outside of loops', () => {
    expect(places(DEFINITION, false).at(-3)).toEqual(['edges[0].when', 0, '', { expression: 'true' }]);
  });

  it('has templates in language 2 alone', () => {
    const before = places(DEFINITION).length;
    expect(places({ ...DEFINITION, language: 1 })).toHaveLength(before - 3);
    const { language: _, ...without } = DEFINITION;
    expect(places(without)).toHaveLength(before - 3);
  });
});
