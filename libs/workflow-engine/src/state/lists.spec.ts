import type { EachConfig, WorkflowDefinition } from '#libs/workflow-definition';
import { flowOf } from '../../../../test/support/flow-of.js';
import { SteppedRun } from '../testing/stepped-run.js';

function listOf(each: Partial<EachConfig> = {}, fields: Partial<WorkflowDefinition> = {}): SteppedRun {
  return new SteppedRun(flowOf('m end', 'm>end', { m: { each: { items: 'inputs.list', ...each } } }, fields));
}

const EACH = { each: { items: 'inputs.list', concurrency: 1 } };

describe('a list', () => {
  test('is asked for when its node has started, and goes through its entries in order, so many at once', () => {
    const run = listOf({ concurrency: 2 });
    expect(run.plan).toEqual({ start: ['m'] });
    expect(run.start('m').plan).toEqual({ decide: ['items m'] });
    run.items('m', 'x', 'y', 'z');
    expect(run.plan).toEqual({ start: ['m[0]', 'm[1]'] });
    run.start('m[0]', 'm[1]');
    expect(run.plan).toEqual({});
    expect(run.complete('m[1]').plan).toEqual({ start: ['m[2]'] });
    run.complete('m[0]').complete('m[2]');
    expect(run.plan).toEqual({ decide: ['list m'] });
    expect(run.complete('m').plan).toEqual({ start: ['end'] });
    expect(run.node('m').each).toMatchObject({ total: 3, completed: 3, failed: 0 });
  });

  test('has an entry waiting for its next attempt among those that are at work', () => {
    const run = listOf({ concurrency: 1 }).items('m', 'x', 'y').start('m[0]').retry('m[0]', 5_000);
    expect(run.plan).toEqual({ wakeAt: 5_000 });
    run.time = 5_000;
    expect(run.plan).toEqual({ start: ['m[0]'] });
    expect(run.complete('m[0]').plan).toEqual({ start: ['m[1]'] });
  });

  test('without entries is done at once', () => {
    expect(listOf().items('m').plan).toEqual({ decide: ['list m'] });
  });

  test('cancels the rest at its first failure, and is then to fail', () => {
    const run = listOf({ concurrency: 3 }).items('m', 1, 2, 3, 4).start('m[0]', 'm[1]').fail('m[1]');
    expect(run.plan).toEqual({ stop: ['m[0]'], report: ['canceled: m[2]'] });
    expect(run.state.error).toBeUndefined();
    run.cancel('m[0]');
    expect(run.plan).toMatchObject({ decide: ['list m'] });
    expect(run.state.frontier.isBeingCanceled).toBe(false);
    expect(run.node('m').each?.firstFailed?.instance).toBe('m[1]');
    expect(run.fail('m').state.error).toMatchObject({ node: 'm' });
  });

  test('that collects goes on after a failure', () => {
    const run = listOf({ concurrency: 1, onFailure: 'collect' }).items('m', 1, 2).fail('m[0]');
    expect(run.plan).toEqual({ start: ['m[1]'] });
    expect(run.complete('m[1]').plan).toEqual({ decide: ['list m'] });
    expect(run.node('m').each).toMatchObject({ completed: 1, failed: 1 });
  });

  test('stops with the run: what is under way is canceled, the rest never begins', () => {
    const definition = flowOf('m other', '', { m: { each: { items: 'inputs.list', concurrency: 2 } } });
    const run = new SteppedRun(definition).items('m', 1, 2, 3).start('m[0]', 'other').fail('other');
    expect(run.plan).toEqual({ stop: ['m[0]'], report: ['failure: m[1]'] });
    run.cancel('m[0]').report('off', 'm[1]');
    expect(run.statuses()).toBe('m canceled, other failed, m[0] canceled, m[1] skipped');
    expect(run.plan).toEqual({ outcome: 'failed' });
  });

  test('is over with a cancel of the run, before what runs at the end', () => {
    const definition = flowOf('m end x', 'm>end', { m: EACH }, { onExit: [{ node: 'x' }] });
    const run = new SteppedRun(definition).items('m', 1, 2, 3).start('m[0]').cancel('m[0]').ending('canceled');
    expect(run.plan).toMatchObject({ report: ['canceled: end m[1]'], start: ['x'] });
    expect(run.statuses('m', 'end')).toBe('m canceled, end skipped');
    expect(run.node('m').finishedAt).toBeDefined();
  });

  test('that an earlier version went on with after a cancel is read as it came', () => {
    const definition = flowOf('m end x', 'm>end', { m: EACH }, { onExit: [{ node: 'x' }] });
    const run = new SteppedRun(definition).items('m', 1, 2, 3).start('m[0]').cancel('m[0]').ending('canceled');
    run.start('m[1]', 'x').complete('m[1]').complete('m[2]').complete('m').complete('end').complete('x');
    expect(run.statuses()).toBe(
      'm completed, end completed, x completed, m[0] canceled, m[1] completed, m[2] completed',
    );
  });

  test('that nobody needs any more is stopped', () => {
    const keys = { m: { each: { items: 'inputs.list' } }, j: { join: { n: 1, cancelRest: true } } };
    const run = new SteppedRun(flowOf('m a j', 'm>j a>j', keys)).items('m', 1).start('m[0]').complete('a');
    expect(run.plan).toMatchObject({ stop: ['m[0]'], start: ['j'] });
    run.cancel('m[0]').complete('j');
    expect(run.statuses('m', 'j')).toBe('m canceled, j completed');
    expect(run.plan).toEqual({ outcome: 'completed' });
  });

  test('may be started anew in each iteration of a loop', () => {
    const run = new SteppedRun(flowOf('m', 'm>m@2', { m: { each: { items: 'inputs.list' } } }));
    run.items('m@1', 'x').complete('m@1[0]').complete('m@1').next(0, 2).items('m@2', 'y');
    expect(run.plan).toEqual({ start: ['m@2[0]'] });
    expect(run.state.resolveInstance('m', run.node('m@2[0]')).instance).toBe('m@1');
  });

  test('counts with all other nodes where the run says how many are at work at once', () => {
    const fields = { parallel: 2 };
    const run = new SteppedRun(flowOf('m a b', '', { m: { each: { items: 'inputs.list' } } }, fields));
    expect(run.plan).toEqual({ start: ['m', 'a'] });
    run.items('m', 1, 2, 3).start('a');
    expect(run.plan).toEqual({ start: ['m[0]'] });
    expect(run.start('m[0]').plan).toEqual({});
    expect(run.complete('a').plan).toEqual({ start: ['m[1]'] });
  });
});
