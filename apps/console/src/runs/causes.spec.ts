import { findFailedInstance, nodeCause, runCause } from './causes.js';
import type { NodePicture } from './node-picture.js';
import { pictureOf, type RunPicture } from './run-picture.js';

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
    [{ status: 'canceled', outcome: 'unreachable' }, {}, 'Canceled, but its agent could not be reached.'],
    [{ status: 'canceled' }, {}, 'Canceled with the run.'],
    [{ status: 'skipped' }, { error: { node: 'a', message: 'x' } }, 'Never started: a failed.'],
    [{ status: 'skipped' }, {}, 'Never started: the run ended before.'],
    [{ status: 'pending' }, {}, 'Waits for a.'],
    [{ status: 'pending', id: 'a' }, {}, 'About to start.'],
    [{ status: 'running' }, {}, undefined],
    [{ status: 'completed' }, {}, undefined],
    [{ status: 'completed', fallback: true }, {}, 'No attempt succeeded: its fallback is its result.'],
    [{ status: 'skipped', because: 'off' }, {}, 'Never started: no edge to it was taken, from a.'],
    [{ status: 'skipped', because: 'broken' }, {}, 'Never started: it needs a.'],
    [{ status: 'skipped', because: 'out-of-reach' }, {}, 'Never started: too few of a can still lead to it.'],
    [{ status: 'skipped', because: 'canceled' }, {}, 'Never started: it was no longer needed.'],
    [{ status: 'skipped', because: 'failure' }, { error: { node: 'a', message: 'x' } }, 'Never started: a failed.'],
  ] as [Partial<NodePicture>, Partial<RunPicture>, string | undefined][])('%j in %j: %s', (members, of, sentence) =>
    expect(nodeCause(node(members), run(of))).toBe(sentence),
  );
});

describe('runCause', () => {
  it('names the node that waits', () => {
    const nodes = new Map([['a', node({ id: 'a', status: 'input-required', question: 'Which?' })]]);
    expect(runCause(run({ status: 'input-required', nodes }))).toBe('Waits for an answer to a: Which?');
  });

  it('tells a failure and a cancel, and nothing else', () => {
    expect(runCause(run({ status: 'failed', error: { message: 'node "a": broken' } }))).toBe('node "a": broken');
    expect(runCause(run({ status: 'canceled' }))).toBe('This run was canceled.');
    expect(runCause(run())).toBeUndefined();
  });

  it('counts questions, and names the instance that asks', () => {
    const asks = (instance: string) => node({ id: 'a', instance, status: 'input-required', question: 'Which?' });
    const one = run({ status: 'input-required', instances: new Map([['a@2', asks('a@2')]]) });
    expect(runCause(one)).toBe('Waits for an answer to a@2: Which?');
    const two = new Map([
      ['a[0]', asks('a[0]')],
      ['a[1]', asks('a[1]')],
    ]);
    expect(runCause(run({ status: 'input-required', instances: two }))).toBe('Waits for 2 answers.');
  });

  it('says until when nothing happens', () => {
    const parked = { until: '2099-01-01T10:00:00Z' };
    expect(runCause(run({ parked }))).toMatch(/^Idle until .*2099.*: it waits for a time\.$/);
    const nodes = new Map([
      ['a', node({ id: 'a', status: 'running' })],
      ['b', node({ id: 'b', status: 'running', until: parked.until })],
      ['c', node({ id: 'c', status: 'running', retryAt: parked.until })],
      ['d', node({ id: 'd', status: 'running' })],
      ['e', node({ id: 'e', status: 'completed' })],
    ]);
    expect(runCause(run({ parked, nodes }))).toMatch(
      /: it waits for the agent of a, which is polled then, the time of b, the next attempt of c and 1 more\.$/,
    );
    expect(nodeCause(node({ status: 'running' }), run({ parked }))).toMatch(
      /^Waits for its agent, which is polled again/,
    );
    expect(nodeCause(node({ status: 'running', until: '2099-01-01T10:00:00Z' }), run())).toMatch(/^Waits until .*2099/);
    const failed = { attempt: 1, startedAt: '2026-01-01T00:00:00Z', status: 'failed', error: 'too slow' };
    const retrying = node({ status: 'running', retryAt: '2026-01-01T00:00:09Z', attempts: [failed] });
    expect(nodeCause(retrying, run())).toMatch(/^Attempt 1 failed: too slow\. The next one is at /);
  });
});

describe('findFailedInstance', () => {
  const failed = (instance?: string, members: Partial<NodePicture> = {}): NodePicture =>
    node({ id: 'a', status: 'failed', ...(instance !== undefined && { instance }), ...members });
  const found = (members: Partial<RunPicture>): string | undefined => findFailedInstance(run(members));

  it('names the node, its iteration or its list entry that failed the run', () => {
    const error = { node: 'a', message: 'broken' };
    expect(found({ error, nodes: new Map([['a', failed()]]) })).toBe('a');
    const iterations = new Map([
      ['a@1', node({ id: 'a', instance: 'a@1', status: 'completed' })],
      ['a@2', failed('a@2')],
    ]);
    expect(found({ error, nodes: new Map([['a', failed('a@2')]]), instances: iterations })).toBe('a@2');
    const list = { list: { items: ['x'], counts: {} } } as unknown as Partial<NodePicture>;
    const entries = new Map([['a[1]', failed('a[1]')]]);
    expect(found({ error, nodes: new Map([['a', failed(undefined, list)]]), instances: entries })).toBe('a[1]');
  });

  it('names none where a deadline failed the run', () => {
    expect(found({ error: { message: 'The deadline has passed' } })).toBeUndefined();
    expect(found({})).toBeUndefined();
  });
});
