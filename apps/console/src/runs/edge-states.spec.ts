import type { DefinitionEdge } from '../graph/graph.js';
import { edgeStates } from './edge-states.js';
import type { RunEvent } from './run-event.js';
import { applyEvents, pictureOf, type RunGraph } from './run-picture.js';
import { NEWEST } from './run-scope.js';

type Step = [type: string, instance: string, payload?: object];

const graph = (edges: DefinitionEdge[], more: Partial<RunGraph> = {}): RunGraph => ({
  nodes: [...new Set(edges.flatMap(({ from, to }) => [from, to]))].map((id) => ({ id, type: 'agent', config: {} })),
  edges,
  language: 2,
  ...more,
});
const statesAfter = (of: RunGraph, steps: Step[], shown = NEWEST) => {
  const events = steps.map(([type, instance, payload = {}], index): RunEvent => {
    const node = instance.replace(/[@[].*/, '');
    return {
      type,
      sequence: index + 1,
      timestamp: new Date(index * 1000).toISOString(),
      ...(node !== '' && { node_id: node }),
      ...(node !== instance && { instance }),
      payload: payload as RunEvent['payload'],
    };
  });
  return edgeStates(applyEvents(pictureOf(of), events), shown);
};

describe('how edges settle', () => {
  it('follows what the log says was taken, and the outcome elsewhere', () => {
    const edges = graph([
      { from: 'a', to: 'b', when: 'x' },
      { from: 'a', to: 'c', when: 'y' },
      { from: 'a', to: 'd' },
      { from: 'a', to: 'e', on: 'failure' },
      { from: 'd', to: 'e' },
    ]);
    expect(statesAfter(edges, [['node.completed', 'a', { taken: [1] }]])).toEqual([
      'off',
      'live',
      'live',
      'off',
      undefined,
    ]);
  });

  it('knows the else, and edges that nobody had to decide', () => {
    const edges = [
      { from: 'a', to: 'b', when: 'x' },
      { from: 'a', to: 'c' },
    ];
    const choosing = graph(edges, { nodes: [{ id: 'a', type: 'agent', config: {}, branch: 'first' }] });
    expect(statesAfter(choosing, [['node.completed', 'a', { taken: [1] }]])).toEqual(['off', 'live']);
    expect(statesAfter(choosing, [['node.completed', 'a', { taken: [0] }]])).toEqual(['live', 'off']);
  });

  it('breaks what a failure leaves without, unless an edge takes care of it', () => {
    const edges = graph([
      { from: 'a', to: 'b' },
      { from: 'a', to: 'c', on: 'failure', when: 'x' },
      { from: 'b', to: 'd' },
    ]);
    const skipped: Step = ['node.skipped', '', { instances: ['b'], because: 'broken' }];
    expect(statesAfter(edges, [['node.error', 'a', { taken: [] }], skipped])).toEqual(['broken', 'off', 'broken']);
    const off: Step = ['node.skipped', '', { instances: ['b'], because: 'off' }];
    expect(statesAfter(edges, [['node.error', 'a', { taken: [1] }], off])).toEqual(['off', 'live', 'off']);
  });

  it('passes on why something was out of reach', () => {
    const edges = graph([
      { from: 'a', to: 'j' },
      { from: 'b', to: 'j' },
      { from: 'j', to: 'k' },
    ]);
    const skipped: Step = ['node.skipped', '', { instances: ['j'], because: 'out-of-reach' }];
    expect(statesAfter(edges, [['node.error', 'a'], ['node.completed', 'b'], skipped])).toEqual([
      'broken',
      'live',
      'broken',
    ]);
  });

  it('decides edges out of a loop at its end, and shows the iteration that is looked at inside', () => {
    const edges = graph([
      { from: 'in', to: 'draft' },
      { from: 'draft', to: 'review' },
      { from: 'review', to: 'draft', loop: { max_iterations: 3 } },
      { from: 'review', to: 'out', when: 'x' },
      { from: 'review', to: 'bad', when: 'y' },
    ]);
    const first: Step[] = [
      ['node.completed', 'in'],
      ['node.started', 'draft@1'],
      ['node.completed', 'draft@1'],
      ['node.completed', 'review@1'],
      ['loop.next', 'review@1', { edge: 2, iteration: 2 }],
    ];
    expect(statesAfter(edges, first)).toEqual(['live', undefined, 'live', undefined, undefined]);
    expect(statesAfter(edges, first, new Map([['2', 1]]))).toEqual(['live', 'live', 'live', undefined, undefined]);
    const end: Step[] = [
      ['node.completed', 'draft@2'],
      ['node.completed', 'review@2'],
      ['loop.ended', 'review@2', { edge: 2, reason: 'exit_when', iterations: 2, taken: [3] }],
    ];
    expect(statesAfter(edges, [...first, ...end])).toEqual(['live', 'live', 'live', 'live', 'off']);
  });

  it('follows plain workflows, whose logs say nothing of edges', () => {
    const edges = [
      { from: 'a', to: 'b' },
      { from: 'b', to: 'c' },
      { from: 'x', to: 'c' },
    ];
    const { language: _language, ...plain } = graph(edges, { onFailure: 'continue' });
    expect(
      statesAfter(plain, [
        ['node.error', 'a'],
        ['node.completed', 'x'],
      ]),
    ).toEqual(['broken', 'broken', 'live']);
  });
});
