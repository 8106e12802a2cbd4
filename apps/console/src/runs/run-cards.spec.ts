import type { NodePicture } from './node-picture.js';
import { pictureOf, type RunGraph } from './run-picture.js';
import { runCard } from './run-cards.js';
import { NEWEST } from './run-scope.js';

const GRAPH: RunGraph = {
  nodes: [{ id: 'a', type: 'agent', config: {}, retry: { attempts: 4 }, join: 'any', timeout: '2m' }],
  edges: [],
};
const card = (members: Partial<NodePicture>) => {
  const node: NodePicture = { id: 'a', type: 'agent', status: 'running', attempts: [], ...members };
  return runCard({ ...pictureOf(GRAPH), nodes: new Map([['a', node]]) }, 'a', NEWEST);
};
const attempt = (status: string) => ({ attempt: 1, startedAt: '2026-01-01T00:00:00Z', status });

describe('the card of a node in a run', () => {
  it('counts attempts, and says when the next one is', () => {
    expect(card({ attempts: [attempt('failed')], retryAt: '2026-01-01T00:00:09Z' })).toMatchObject({
      note: 'Retry',
      until: '2026-01-01T00:00:09Z',
      attempts: { made: 1, most: 4 },
    });
  });

  it('says what is under way, in its last words', () => {
    expect(card({ progress: { text: 'Reading the third of nine long documents' } }).note).toBe(
      'Reading the third of nine ',
    );
    expect(card({ progress: { made: 'one\ntwo\n' } }).note).toBe('two');
    expect(card({}).note).toBeUndefined();
  });

  it('says why it never ran, and what stands for its result', () => {
    expect(card({ status: 'skipped', because: 'off' }).note).toBe('Not chosen');
    expect(card({ status: 'skipped' }).note).toBeUndefined();
    const texts = (members: Partial<NodePicture>) => card(members).badges?.map(({ text }) => text);
    expect(texts({ status: 'completed', fallback: true })).toEqual(['any', '✓ fallback']);
    expect(texts({ status: 'completed', origin: 'r1' })).toEqual(['any', 'reused']);
  });

  it('shows how far it is with a list', () => {
    const list = { items: ['x', 'y'], counts: { completed: 1 } };
    expect(card({ list })).toMatchObject({
      note: '1 of 2',
      bar: [
        { status: 'completed', count: 1 },
        { status: 'pending', count: 1 },
      ],
    });
  });
});
