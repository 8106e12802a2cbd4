import { flowOf } from '../../../../test/support/flow-of.js';
import { SteppedRun } from '../testing/stepped-run.js';

const FAILURE = { kind: 'max-iterations' as const, message: 'not good yet' };

/** Completes these instances, one after the other. */
function completed(run: SteppedRun, ...instances: string[]): SteppedRun {
  for (const name of instances) run.complete(name, undefined, `${name} done`);
  return run;
}

describe('a loop', () => {
  const critic = flowOf('topic draft review final', 'topic>draft draft>review review>final review>draft@3');
  const BACK = 3;

  test('runs its body again and again, each time as instances of their own, and goes on behind it once', () => {
    const run = completed(new SteppedRun(critic), 'topic', 'draft@1', 'review@1');
    expect(run.plan).toEqual({ decide: ['loop'] });
    run.next(BACK, 2);
    expect(run.plan).toEqual({ start: ['draft@2'] });
    completed(run, 'draft@2', 'review@2').end(BACK, 'exit_when');
    expect(run.plan).toEqual({ start: ['final'] });
    expect(run.complete('final').plan).toEqual({ outcome: 'completed' });
    expect(run.statuses()).toBe(
      'topic completed, draft@1 completed, review@1 completed, final completed, draft@2 completed, review@2 completed',
    );
    expect(run.state.getNode('draft').instance).toBe('draft@2');
    expect(run.state.loopOf(run.node('draft@2'))).toMatchObject({ iteration: 2, reason: 'exit_when' });
  });

  test('waits before an iteration that has a time, and only then', () => {
    const run = completed(new SteppedRun(critic), 'topic', 'draft@1', 'review@1').next(BACK, 2, { delay: 60_000 });
    expect(run.plan).toEqual({ outcome: 'parked', wakeAt: 60_000 });
    run.time = 59_000;
    expect(run.plan).toEqual({ wakeAt: 60_000 });
    run.time = 60_000;
    expect(run.plan).toEqual({ start: ['draft@2'] });
    expect(run.start('draft@2').plan).toEqual({});
  });

  test('means by a name what is beside it, else what was before, and from outside what came last', () => {
    const run = completed(new SteppedRun(critic), 'topic', 'draft@1', 'review@1').next(BACK, 2);
    const seen = (id: string, from: string) => run.state.resolveInstance(id, run.node(from)).instance;
    expect(seen('review', 'draft@2')).toBe('review@1');
    expect(seen('draft', 'draft@2')).toBe('draft@1');
    expect(seen('topic', 'draft@2')).toBe('topic');
    expect(seen('review', 'final')).toBe('review@1');
    completed(run, 'draft@2');
    expect(seen('draft', 'review@2')).toBe('draft@2');
    expect(seen('draft', 'final')).toBe('draft@2');
    completed(run, 'review@2').end(BACK, 'max');
    expect(run.state.resolveInstance('review').instance).toBe('review@2');
  });

  test('keeps the results of its last two iterations, and of older ones what became of them', () => {
    const run = completed(new SteppedRun(critic), 'topic', 'draft@1', 'review@1');
    completed(run.next(BACK, 2), 'draft@2', 'review@2');
    completed(run.next(BACK, 3), 'draft@3');
    const kept = ['draft@1', 'draft@2', 'draft@3'].map((name) => run.node(name).artifacts.length);
    expect(kept).toEqual([0, 1, 1]);
    expect(run.node('draft@1')).toMatchObject({ status: 'completed', attempts: 1 });
  });

  test('whose end is a failure fails at its last node', () => {
    const run = completed(new SteppedRun(critic), 'topic', 'draft@1', 'review@1').end(BACK, 'max', {
      failure: FAILURE,
    });
    expect(run.state.error).toEqual({ ...FAILURE, node: 'review', instance: 'review@1' });
    expect(run.statuses('review@1', 'final')).toBe('review@1 failed, final skipped');
    expect(run.plan).toMatchObject({ report: ['broken: final'] });
  });

  test('whose end is a failure goes by an edge that takes care of it', () => {
    const edges = 'topic>draft draft>review review>final review>rescue! review>draft@3';
    const run = completed(new SteppedRun(flowOf('topic draft review final rescue', edges)), 'topic', 'draft@1');
    run.complete('review@1', []);
    const [loop] = [run.state.loopOf(run.node('review@1'))];
    const chosen =
      loop &&
      run.state.choosableExits(loop, true).map(({ outcome, edges: some }) => [outcome, some.map(({ to }) => to)]);
    expect(chosen).toEqual([['failed', ['rescue']]]);
    run.end(4, 'max', { failure: FAILURE, taken: [3] });
    expect(run.state.error).toBeUndefined();
    expect(run.plan).toMatchObject({ start: ['rescue'] });
  });

  test('ends with the iteration that fails; what else is at work in it comes to its end', () => {
    const edges = 'a>b a>c b>d c>d d>out c>aside d>a@3';
    const run = new SteppedRun(flowOf('a b c d out aside', edges, {}, { onFailure: 'continue' }));
    run.complete('a@1').start('c@1').fail('b@1');
    expect(run.statuses('d@1', 'out', 'aside')).toBe('d@1 skipped, out skipped, aside pending');
    expect(run.state.error).toMatchObject({ node: 'b', instance: 'b@1' });
    run.complete('c@1');
    expect(run.plan).toMatchObject({ decide: ['loop that failed'] });
    run.end(6, 'failure');
    expect(run.plan).toMatchObject({ start: ['aside'] });
    expect(run.state.loopOf(run.node('a@1'))?.reason).toBe('failure');
  });

  test('is left by an edge for failures at once: the failure is handled before its iteration is over', () => {
    const run = new SteppedRun(flowOf('a b rescue', 'a>b a>rescue! b>a@3')).fail('a@1', [1]);
    expect(run.state.error).toBeUndefined();
    expect(run.statuses('b@1', 'rescue')).toBe('b@1 skipped, rescue pending');
    expect(run.plan).toMatchObject({ decide: ['loop that failed'] });
    const loop = run.state.loopOf(run.node('a@1'));
    expect(loop && run.state.choosableExits(loop).map(({ node, taken }) => [node.instance, taken])).toEqual([
      ['a@1', [1]],
    ]);
    run.end(2, 'failure', { taken: [1] });
    expect(run.plan).toMatchObject({ start: ['rescue'] });
  });

  test('of one node is a body of one', () => {
    const run = new SteppedRun(flowOf('a b', 'a>b a>a@2')).complete('a@1').next(1, 2).complete('a@2').end(1, 'max');
    expect(run.plan).toEqual({ start: ['b'] });
  });

  test('that is not reached is skipped with all that is in it', () => {
    const run = new SteppedRun(flowOf('s a b c out', 's>a? a>b b>c c>out b>a@3 c>a@2')).complete('s', []);
    expect(run.plan).toEqual({ report: ['off: a@1@1 b@1@1 c@1 out'] });
    expect(run.complete('s', []).report('off', 'a@1@1', 'b@1@1', 'c@1', 'out').plan).toEqual({ outcome: 'completed' });
  });
});

describe('a loop in a loop', () => {
  const nested = flowOf('a b c out', 'a>b b>c c>out b>b@2 c>a@2');
  const [INNER, OUTER] = [3, 4];

  test('begins anew in each iteration of the one around it', () => {
    const run = new SteppedRun(nested)
      .complete('a@1')
      .complete('b@1@1')
      .next(INNER, 2, { path: [1] });
    run.complete('b@1@2').end(INNER, 'max', { path: [1] });
    expect(run.plan).toEqual({ start: ['c@1'] });
    run.complete('c@1').next(OUTER, 2).complete('a@2');
    expect(run.plan).toEqual({ start: ['b@2@1'] });
    run.complete('b@2@1').end(INNER, 'exit_when', { path: [2] });
    expect(run.state.resolveInstance('b', run.node('c@2')).instance).toBe('b@2@1');
    run.complete('c@2').end(OUTER, 'max');
    expect(run.plan).toEqual({ start: ['out'] });
  });

  test('may begin with the same node: both begin with the first iteration', () => {
    const run = new SteppedRun(flowOf('a b', 'a>b a>a@2 b>a@2'));
    expect(run.plan).toEqual({ start: ['a@1@1'] });
    run.complete('a@1@1').next(1, 2, { path: [1] });
    expect(run.plan).toEqual({ start: ['a@1@2'] });
    run
      .complete('a@1@2')
      .end(1, 'max', { path: [1] })
      .complete('b@1')
      .next(2, 2, { delay: 5_000 });
    expect(run.plan).toEqual({ wakeAt: 5_000 });
    run.time = 5_000;
    expect(run.plan).toEqual({ start: ['a@2@1'] });
  });

  test('fails the one around it, and what leads out of both breaks', () => {
    const edges = 'a>b b>c c>out b>far b>b@2 c>a@2';
    const run = new SteppedRun(flowOf('a b c out far', edges, {}, { onFailure: 'continue' }))
      .complete('a@1')
      .fail('b@1@1');
    expect(run.state.error).toMatchObject({ node: 'b', instance: 'b@1@1' });
    expect(run.plan).toMatchObject({ decide: ['loop that failed'] });
    run.end(4, 'failure', { path: [1] });
    expect(run.statuses('c@1', 'far', 'out')).toBe('c@1 skipped, far skipped, out skipped');
    expect(run.plan).toMatchObject({ decide: ['loop that failed'] });
    run.end(5, 'failure');
    expect(run.plan).toEqual({ report: ['broken: c@1 far out'] });
  });
});

describe('a failure in a loop', () => {
  test('that a join outside absorbs is no failure of the run, also where the first failure ends it', () => {
    const run = new SteppedRun(flowOf('a b other j', 'a>b b>j other>j b>a@3', { j: { join: 'any' } }));
    run.start('other').fail('a@1');
    expect(run.state.error).toBeUndefined();
    expect(run.plan).toMatchObject({ decide: ['loop that failed'] });
    run.end(3, 'failure').complete('other');
    expect(run.plan).toMatchObject({ start: ['j'] });
    expect(run.complete('j').state.frontier.isFailing).toBe(false);
  });

  test('that nothing takes care of ends the run at once', () => {
    const run = new SteppedRun(flowOf('a b c out', 'a>b a>c b>out b>a@3')).complete('a@1').start('c').fail('b@1');
    expect(run.plan).toMatchObject({ stop: ['c'] });
  });
});
