import type { DefinitionEdge, GraphNode } from './graph.js';
import { badgesOf, countIncoming } from './node-badges.js';

const EDGES: DefinitionEdge[] = [
  { from: 'x', to: 'a' },
  { from: 'y', to: 'a' },
  { from: 'z', to: 'a' },
  { from: 'a', to: 'a', loop: { max_iterations: 2 } },
];
const badges = (members: Partial<GraphNode>, onExit?: { node: string; on?: string }[]): string[] => {
  const node = { id: 'a', type: 'agent', config: {}, ...members };
  return badgesOf({ nodes: [node], edges: EDGES, onExit }, node).map(({ text }) => text);
};

describe('badgesOf', () => {
  it('says nothing of a node that just runs', () => {
    expect(badges({})).toEqual([]);
    expect(badges({ join: 'all' })).toEqual([]);
  });

  it('says how many edges start it', () => {
    expect(badges({ join: 'any' })).toEqual(['any']);
    expect(badges({ join: { n: 1, cancelRest: true } })).toEqual(['any']);
    expect(badges({ join: { n: 2 } })).toEqual(['2 of 3']);
    expect(countIncoming({ nodes: [], edges: EDGES }, 'a')).toBe(3);
  });

  it('says how it repeats, and what happens when it fails', () => {
    const all = badges(
      {
        each: { items: 'inputs.list' },
        retry: { attempts: 4 },
        timeout: '2m',
        fallback: { parts: [] },
        onWait: { deadline: '48h' },
      },
      [{ node: 'a', on: 'failure' }],
    );
    expect(all).toEqual(['at the end', 'each', '4×', '2m', 'fallback', 'asks 48h']);
  });
});
