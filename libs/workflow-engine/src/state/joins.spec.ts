import type { WorkflowNode } from '#libs/workflow-definition';
import { flowOf } from '../../../../test/support/flow-of.js';
import { SteppedRun } from '../testing/stepped-run.js';

const ANY: Partial<WorkflowNode> = { join: 'any' };

describe('a choice', () => {
  const diamond = flowOf('a yes no end', 'a>yes? a>no? yes>end no>end');

  test('runs what was taken, skips the rest, and joins them once', () => {
    const run = new SteppedRun(diamond).complete('a', [0]);
    expect(run.statuses()).toBe('a completed, yes pending, no skipped, end pending');
    expect(run.plan).toEqual({ start: ['yes'], report: ['off: no'] });
    run.complete('yes');
    expect(run.plan).toEqual({ start: ['end'], report: ['off: no'] });
    expect(run.complete('end').report('off', 'no').plan).toEqual({ outcome: 'completed' });
  });

  test('that takes nothing skips all behind it, and the run completes', () => {
    const run = new SteppedRun(diamond).complete('a', []).report('off', 'yes', 'no', 'end');
    expect(run.statuses()).toBe('a completed, yes skipped, no skipped, end skipped');
    expect(run.plan).toEqual({ outcome: 'completed' });
    expect(run.node('end').because).toBe('off');
  });

  test('names what may be taken by the outcome, and nothing where no edge has a condition', () => {
    const { state } = new SteppedRun(flowOf('a b c d', 'a>b a>c! a>d* b>d'));
    const places = (id: string, outcome: 'completed' | 'failed') =>
      state.choosableEdges(state.getNode(id), outcome)?.map(({ index }) => index);
    expect(places('a', 'completed')).toEqual([0, 2]);
    expect(places('a', 'failed')).toEqual([1, 2]);
    expect(places('b', 'completed')).toBeUndefined();
  });
});

describe('a join', () => {
  test('of two runs at the second live edge, once, and is not harmed by a failure after it', () => {
    const run = new SteppedRun(flowOf('a b c j', 'a>j b>j c>j', { j: { join: { n: 2 } } }));
    run.complete('a');
    expect(run.node('j').status).toBe('pending');
    run.fail('b');
    expect(run.state.error).toBeUndefined();
    expect(run.complete('c').plan).toEqual({ start: ['j'] });
    expect(run.complete('j').plan).toEqual({ outcome: 'completed' });
  });

  test('that can no longer be reached passes on the failure that it had absorbed', () => {
    const run = new SteppedRun(flowOf('a b j end', 'a>j b>j j>end', { j: ANY }, { onFailure: 'continue' }));
    run.fail('b');
    expect(run.state.error).toBeUndefined();
    run.fail('a');
    expect(run.state.error).toMatchObject({ node: 'b' });
    expect(run.plan).toEqual({ report: ['out-of-reach: j', 'broken: end'] });
    expect(run.state.frontier.isFailing).toBe(true);
  });

  test.each(['first', 'last'])('comes out the same where the failure comes %s', (when) => {
    const definition = flowOf('a b j', 'a>j? b>j', { j: { join: { n: 2 } } }, { onFailure: 'continue' });
    const run = new SteppedRun(definition);
    if (when === 'first') run.fail('b').complete('a', []);
    else run.complete('a', []).fail('b');
    expect(run.state.error).toMatchObject({ node: 'b', message: 'b: boom' });
    expect(run.node('j').because).toBe('out-of-reach');
  });

  test('cancels what only leads to it: what is under way is stopped, what is pending skipped', () => {
    const edges = 'a>j b>b2 b2>j c>c2 c2>j c>other';
    const run = new SteppedRun(flowOf('a b b2 c c2 other j', edges, { j: { join: { n: 1, cancelRest: true } } }));
    run.start('a', 'b', 'c').complete('a');
    expect(run.statuses('b', 'b2', 'c', 'c2', 'other')).toBe(
      'b running, b2 skipped, c running, c2 skipped, other pending',
    );
    expect(run.plan).toEqual({ stop: ['b'], report: ['canceled: b2 c2'], start: ['j'] });
    run.cancel('b').complete('c').complete('other').complete('j');
    expect(run.state.frontier.isBeingCanceled).toBe(false);
    expect(run.plan).toEqual({ report: ['canceled: b2 c2'] });
  });

  test('does not mind how what it has canceled ends', () => {
    const run = new SteppedRun(flowOf('a b j', 'a>j b>j', { j: { join: { n: 1, cancelRest: true } } }));
    run.start('a', 'b').complete('a').fail('b').complete('j');
    expect(run.state.error).toBeUndefined();
    expect(run.plan).toEqual({ outcome: 'completed' });
  });
});

describe('a failure', () => {
  test('is handled by an edge for failures, and the edges of success are off', () => {
    const run = new SteppedRun(flowOf('a next rescue end', 'a>next a>rescue! next>end rescue>end'));
    run.fail('a', [1]);
    expect(run.statuses()).toBe('a failed, next skipped, rescue pending, end pending');
    expect(run.node('next').because).toBe('off');
    run.complete('rescue').complete('end').report('off', 'next');
    expect(run.plan).toEqual({ outcome: 'completed' });
    expect(run.state.error).toBeUndefined();
  });

  test('that no edge takes ends the run, with its kind', () => {
    const run = new SteppedRun(flowOf('a b rescue other', 'a>b a>rescue!?')).start('other').fail('a', []);
    expect(run.state.error).toEqual({ kind: 'failed', node: 'a', message: 'a: boom' });
    expect(run.plan).toEqual({ stop: ['other'], report: ['broken: b', 'off: rescue'] });
    run.cancel('other');
    expect(run.state.frontier.isBeingCanceled).toBe(false);
  });

  test('of `continue` lets the rest finish', () => {
    const run = new SteppedRun(flowOf('a b c d', 'a>b c>d', {}, { onFailure: 'continue', language: 2 }));
    run.fail('a').complete('c');
    expect(run.plan).toEqual({ start: ['d'], report: ['broken: b'] });
  });

  test('goes by an edge for all outcomes, which handles it as well', () => {
    const definition = flowOf('a log', 'a>log*');
    expect(new SteppedRun(definition).fail('a', [0]).plan).toEqual({ start: ['log'] });
    expect(new SteppedRun(definition).complete('a', [0]).plan).toEqual({ start: ['log'] });
  });
});
