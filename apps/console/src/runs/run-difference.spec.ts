import { differenceText } from './run-difference.js';
import type { RunDiff } from './run-api.js';

const RUN = { runId: 'r', workflow: 'w', revision: '1', status: 'completed', createdAt: '' } as const;

describe('differenceText', () => {
  it('names what differs, with the values that are short', () => {
    const diff: RunDiff = {
      before: RUN,
      after: { ...RUN, revision: '2', status: 'failed' },
      differs: ['revision', 'status', 'error', 'inputs', 'nodes'],
      inputs: [{ path: 'topic' }, { path: 'tone' }],
      nodes: [
        { id: 'a', differs: ['output'] },
        { id: 'b', differs: [] },
      ],
      truncated: false,
    };
    expect(differenceText(diff)).toBe(
      'differs in revision 1 → 2, status completed → failed, error, inputs (topic, tone), 1 node.',
    );
    expect(differenceText({ ...diff, differs: [] })).toBe('no difference.');
  });
});
