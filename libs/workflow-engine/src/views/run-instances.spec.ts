import type { EachRun, NodeInstance, NodeStatus } from '../state/node-instance.js';
import { instanceCounts } from './run-view.js';

function node(instance: string, status: NodeStatus, more: Partial<NodeInstance> = {}): NodeInstance {
  const [id = ''] = instance.split(/[@[]/);
  return { id, type: 'agent', instance, path: [], status, attempts: 1, artifacts: [], ...more };
}

/** Creates a node that processes a list of `total` entries, and the instances of the entries that were reached. */
function list(
  status: NodeStatus,
  total: number,
  entries: NodeStatus[],
  more: Partial<NodeInstance> = {},
): NodeInstance[] {
  const each: EachRun = { total, runs: [], completed: 0, failed: 0, canceled: 0 };
  const it = node('x', status, { each, ...more });
  each.runs.push(...entries.map((entry, index) => node(`x[${index}]`, entry, { index, list: it })));
  return [it, ...each.runs];
}

function countsOf(...nodes: NodeInstance[]): object {
  return Object.fromEntries(instanceCounts({ instances: new Map(nodes.map((it) => [it.instance, it])) }));
}

describe('instanceCounts', () => {
  it('counts iterations by status, and says how many completed and failed also where none has', () => {
    const iterations = [node('draft@1', 'completed', { path: [1] }), node('draft@2', 'running', { path: [2] })];
    expect(countsOf(node('plain', 'completed'), ...iterations)).toEqual({
      draft: { total: 2, completed: 1, failed: 0, running: 1 },
    });
  });

  it.each([
    [
      'runs',
      list('running', 9, ['completed', 'failed', 'running']),
      { completed: 1, failed: 1, running: 1, pending: 6 },
    ],
    ['failed', list('failed', 9, ['completed', 'failed']), { completed: 1, failed: 1, skipped: 7 }],
    ['is done', list('completed', 2, ['completed', 'completed']), { completed: 2, failed: 0 }],
    ['is empty', list('completed', 0, []), { completed: 0, failed: 0 }],
  ])('counts all entries of a list that %s', (_, nodes, counts) => {
    const { total } = nodes[0]!.each!;
    expect(countsOf(...nodes)).toEqual({ x: { total, ...counts } });
  });

  it('counts nothing of a list that is not known', () => {
    expect(countsOf(...list('running', 0, []))).toEqual({});
    expect(countsOf(...list('completed', 0, [], { origin: 'r0' }))).toEqual({});
  });
});
