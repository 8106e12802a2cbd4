import type { NodeView, RunView } from '#libs/workflow-engine';
import { compareRuns } from './run-comparison.js';

const BEGAN = '2026-01-31T09:30:00.000Z';
const ENDED = '2026-01-31T09:30:02.500Z';

function run(parts: Partial<RunView>): RunView {
  return {
    runId: 'r1',
    workflow: 'w',
    revision: '1',
    status: 'completed',
    contextId: 'c1',
    inputs: {},
    nodes: {},
    state: {},
    artifacts: {},
    createdAt: BEGAN,
    updatedAt: ENDED,
    ...parts,
  };
}

function node(text: string, parts: Partial<NodeView> = {}): NodeView {
  const artifacts = [{ artifactId: crypto.randomUUID(), parts: [{ text }] }];
  return { status: 'completed', attempts: 1, agentUrl: '', artifacts, startedAt: BEGAN, finishedAt: ENDED, ...parts };
}

describe('compareRuns', () => {
  it('finds no difference between runs that differ only in ids and times', () => {
    const before = run({ nodes: { a: node('x') } });
    const after = run({ runId: 'r2', createdAt: ENDED, nodes: { a: node('x', { finishedAt: BEGAN }) } });
    expect(compareRuns(before, after)).toEqual({
      before: expect.objectContaining({ runId: 'r1', durationMs: 2500 }),
      after: expect.objectContaining({ runId: 'r2', durationMs: 0 }),
      differs: [],
      inputs: [],
      nodes: [
        {
          id: 'a',
          differs: [],
          before: { status: 'completed', attempts: 1, durationMs: 2500 },
          after: { status: 'completed', attempts: 1, durationMs: 0 },
        },
      ],
      truncated: false,
    });
  });

  it('finds inputs that differ only in the order of entries with ids', () => {
    const nodes = [{ id: 'x' }, { id: 'y' }];
    const { differs, inputs } = compareRuns(run({ inputs: { nodes } }), run({ inputs: { nodes: nodes.toReversed() } }));
    const texts = { before: '[{"id":"x"},{"id":"y"}]', after: '[{"id":"y"},{"id":"x"}]' };
    expect([differs, inputs]).toEqual([['inputs'], [{ path: 'nodes', ...texts }]]);
  });

  it('names everything that differs, with both values', () => {
    const before = run({ inputs: { topic: 'tea', n: 1 }, nodes: { gone: node('g'), a: node('old') } });
    const failed = node('', { status: 'failed', attempts: 2, artifacts: [], error: 'no answer' });
    const after = run({
      runId: 'r2',
      revision: '2',
      status: 'failed',
      error: { message: 'it failed', node: 'a' },
      inputs: { topic: 'coffee', n: 1 },
      nodes: { a: failed, __proto__x: node('p') },
    });
    const found = compareRuns(before, after);
    expect(found.differs).toEqual(['revision', 'status', 'error', 'inputs', 'nodes']);
    expect(found.inputs).toEqual([{ path: 'topic', before: 'tea', after: 'coffee' }]);
    expect(found.nodes.map(({ id, differs }) => [id, differs])).toEqual([
      ['a', ['status', 'attempts', 'error', 'output']],
      ['__proto__x', ['presence']],
      ['gone', ['presence']],
    ]);
    expect(found.nodes[0]).toMatchObject({ before: { output: 'old' }, after: { error: 'no answer' } });
    expect(found.nodes[2]).toMatchObject({ before: { output: 'g' } });
    expect(found.nodes[2]).not.toHaveProperty('after');
  });

  it('cuts long values, and all values together', () => {
    const names = Array.from({ length: 300 }, (_, index) => `n${index}`);
    const nodes = (text: string): Record<string, NodeView> =>
      Object.fromEntries(names.map((name) => [name, node(text.repeat(5_000))]));
    const found = compareRuns(run({ nodes: nodes('a') }), run({ nodes: nodes('b') }));
    expect([found.truncated, found.nodes.length]).toEqual([true, 300]);
    const lengths = found.nodes.flatMap(({ before, after }) => [before?.output?.length, after?.output?.length]);
    expect([lengths[0], lengths.at(-1)]).toEqual([2_000, 0]);
    expect(lengths.reduce<number>((sum, length = 0) => sum + length, 0)).toBe(256 * 1024);
  });
});
