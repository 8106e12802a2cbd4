import { loopsOf } from '../graph/loops.js';
import type { RunEvent } from './run-event.js';
import { applyEvents, pictureOf } from './run-picture.js';
import { instanceOf, NEWEST, shownLoop, shownNode, shownWith } from './run-scope.js';

const EDGES = [
  { from: 'a', to: 'b' },
  { from: 'b', to: 'c' },
  { from: 'b', to: 'b', loop: { max_iterations: 5 } },
  { from: 'c', to: 'a', loop: { max_iterations: 3 } },
];
const GRAPH = { nodes: ['a', 'b', 'c'].map((id) => ({ id, type: 'agent', config: {} })), edges: EDGES };

const started = (...instances: string[]) =>
  applyEvents(
    pictureOf(GRAPH),
    instances.map((instance, index): RunEvent => ({
      type: 'node.started',
      sequence: index + 1,
      timestamp: new Date(0).toISOString(),
      node_id: instance[0] ?? '',
      instance,
      payload: {},
    })),
  );

describe('what is looked at of a run', () => {
  const picture = started('a@1', 'b@1@1', 'b@1@2', 'c@1', 'a@2', 'b@2@1');
  const name = (node: string, shown = NEWEST) => shownNode(picture, node, shown)?.instance;
  const [outer, inner] = loopsOf(EDGES);

  it('is the newest iteration of every loop', () => {
    expect([name('a'), name('b'), name('c')]).toEqual(['a@2', 'b@2@1', 'c@2']);
    expect(shownNode(picture, 'c', NEWEST)?.status).toBe('pending');
  });

  it('is another iteration where one was chosen, with the newest of the loops in it', () => {
    const shown = new Map([['3', 1]]);
    expect([name('a', shown), name('b', shown), name('c', shown)]).toEqual(['a@1', 'b@1@2', 'c@1']);
    expect(inner && shownLoop(picture, inner, shown)).toMatchObject({ key: '2@1', iteration: 2 });
    expect(outer && shownLoop(picture, outer, shown)).toMatchObject({ key: '3', iteration: 1, run: { iteration: 2 } });
  });

  it('is where an instance is that was chosen', () => {
    expect(shownWith(picture, 'b@1@1', NEWEST)).toEqual(
      new Map([
        ['3', 1],
        ['2@1', 1],
      ]),
    );
    expect(shownWith(picture, 'b', NEWEST)).toBe(NEWEST);
  });

  it('knows no node that the workflow has not', () => {
    expect(instanceOf(picture, 'nobody@1')).toBeUndefined();
    expect(instanceOf(picture, 'b@1@9')).toMatchObject({ status: 'pending' });
  });
});
