import { nodeCause, runCause } from './causes.js';
import { type NodePicture, pictureOf, type RunPicture } from './run-picture.js';

const GRAPH = {
  nodes: ['a', 'b'].map((id) => ({ id, type: 'agent', config: {} })),
  edges: [{ from: 'a', to: 'b' }],
};
const node = (members: Partial<NodePicture>): NodePicture => ({
  id: 'b',
  type: 'agent',
  status: 'pending',
  attempts: [],
  ...members,
});
const run = (members: Partial<RunPicture> = {}): RunPicture => ({ ...pictureOf(GRAPH), ...members });

describe('nodeCause', () => {
  it.each([
    [{ status: 'input-required', question: 'Which?' }, {}, 'Waits for an answer: Which?'],
    [{ status: 'failed', error: 'broken' }, {}, 'broken'],
    [{ status: 'canceled', outcome: 'unreachable' }, {}, 'Cancelled, but its agent could not be reached.'],
    [{ status: 'canceled' }, {}, 'Cancelled with the run.'],
    [{ status: 'skipped' }, { error: { node: 'a', message: 'x' } }, 'Never started: a failed.'],
    [{ status: 'skipped' }, {}, 'Never started: the run ended before.'],
    [{ status: 'pending' }, {}, 'Waits for a.'],
    [{ status: 'pending', id: 'a' }, {}, 'About to start.'],
    [{ status: 'running' }, {}, undefined],
    [{ status: 'completed' }, {}, undefined],
  ])('%j in %j: %s', (members, of, sentence) => expect(nodeCause(node(members), run(of))).toBe(sentence));
});

describe('runCause', () => {
  it('names the node that waits', () => {
    const nodes = new Map([['a', node({ id: 'a', status: 'input-required', question: 'Which?' })]]);
    expect(runCause(run({ status: 'input-required', nodes }))).toBe('Waits for an answer to a: Which?');
  });

  it('tells a failure and a cancel, and nothing else', () => {
    expect(runCause(run({ status: 'failed', error: { message: 'node "a": broken' } }))).toBe('node "a": broken');
    expect(runCause(run({ status: 'canceled' }))).toBe('Somebody cancelled this run.');
    expect(runCause(run())).toBeUndefined();
  });
});
