import type { WorkflowEdge } from '#libs/workflow-definition';
import { chooseEdges, type EdgeChoice } from './run-evaluation.js';
import { FailedExpression } from './run-expressions.js';

/**
 * Decides edges with these conditions (`true`, `false`, `error`, or none). Returns the choice, and the indexes of the
 * edges whose conditions were evaluated (`asked`).
 */
function chosen(
  branch: 'every' | 'first' | undefined,
  ...whens: (string | undefined)[]
): EdgeChoice & { asked: number[] } {
  const asked: number[] = [];
  const edges = whens.map((when, index) => {
    const edge: WorkflowEdge = { from: 'a', to: 'b', ...(when !== undefined && { when }) };
    return { index: index + 10, from: 'a', to: 'b', edge };
  });
  const choice = chooseEdges(edges, branch, ({ index, edge }) => {
    asked.push(index);
    if (edge.when === 'error') throw new FailedExpression('no value');
    return edge.when === 'true';
  });
  return { ...choice, asked };
}

describe('of the edges from a node', () => {
  it('each one is taken whose condition holds', () => {
    expect(chosen(undefined, 'true', undefined, 'false', 'true')).toMatchObject({ taken: [10, 11, 13], errors: [] });
    expect(chosen('every', 'false')).toMatchObject({ taken: [], errors: [] });
  });

  it('or the first one, and no more are asked; that without a condition is the last, wherever it stands', () => {
    expect(chosen('first', undefined, 'false', 'true', 'true')).toEqual({ taken: [12], errors: [], asked: [11, 12] });
    expect(chosen('first', undefined, 'false')).toEqual({ taken: [10], errors: [], asked: [11] });
    expect(chosen('first', 'false', 'false')).toMatchObject({ taken: [] });
  });

  it('one is not taken that cannot be decided, and all of those are named', () => {
    const errors = [10, 12].map((edge) => ({ edge, message: 'no value' }));
    expect(chosen('every', 'error', 'true', 'error')).toMatchObject({ taken: [11], errors });
    expect(chosen('first', 'error', 'true')).toMatchObject({ taken: [11], errors: [errors[0]] });
  });

  it('a fault of ours decides nothing', () => {
    const edges = [{ index: 0, from: 'a', to: 'b', edge: { from: 'a', to: 'b', when: 'x' } }];
    const broken = () => {
      throw new TypeError('ours');
    };
    expect(() => chooseEdges(edges, 'every', broken)).toThrow(TypeError);
  });
});
