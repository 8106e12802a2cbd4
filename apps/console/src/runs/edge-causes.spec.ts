import type { EdgeOutcome } from '../graph/edge-look.js';
import type { DefinitionEdge } from '../graph/graph.js';
import { describeEdgeState } from './edge-causes.js';

const of = (members: Partial<DefinitionEdge>, state: EdgeOutcome): string =>
  describeEdgeState({ from: 'a', to: 'b', ...members }, state);

describe('settlement', () => {
  it.each([
    [{}, undefined, 'Not decided yet: a has not ended.'],
    [{}, 'live', 'It was taken.'],
    [{ when: 'x' }, 'live', 'It was taken: its condition held.'],
    [{ when: 'x' }, 'off', 'Not taken: its condition did not hold, or another edge came before it.'],
    [{}, 'off', 'Not taken: another edge of a was, or a was not chosen itself.'],
    [{ on: 'failure' }, 'off', 'Not taken: a did not fail, or its condition did not hold.'],
    [{}, 'broken', 'Broken: a failed, or was never started because of a failure.'],
    [{ loop: { max_iterations: 2 } }, 'live', 'It was repeated.'],
    [{ loop: { max_iterations: 2 } }, 'off', 'It ran once.'],
    [{ loop: { max_iterations: 2 } }, undefined, 'It was not reached yet.'],
  ] as [Partial<DefinitionEdge>, EdgeOutcome, string][])('of %j, %s: %s', (edge, state, sentence) =>
    expect(of(edge, state)).toBe(sentence),
  );
});
