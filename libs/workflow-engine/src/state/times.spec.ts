import { flowOf } from '../../../../test/support/flow-of.js';
import { SteppedRun } from '../testing/stepped-run.js';

const HOUR = 3_600_000;

describe('a time', () => {
  test('of another attempt starts it again when it has come', () => {
    const run = new SteppedRun(flowOf('a', '', { a: { retry: { attempts: 2 } } }))
      .start('a')
      .send('a')
      .retry('a', HOUR);
    expect(run.node('a')).toMatchObject({
      status: 'running',
      waitsFor: { state: 'retry' },
      failure: { kind: 'failed' },
    });
    expect(run.plan).toEqual({ outcome: 'parked', wakeAt: HOUR });
    run.time = HOUR - 30_000;
    expect(run.plan).toEqual({ wakeAt: HOUR });
    run.time = HOUR;
    expect(run.plan).toEqual({ start: ['a'] });
    run.start('a');
    expect(run.node('a')).toMatchObject({ attempts: 2 });
    expect(run.node('a').waitsFor).toBeUndefined();
    expect(run.state.frontier.undispatchedNodes.map(({ id }) => id)).toEqual(['a']);
  });

  test('of a wait is the end of it', () => {
    const run = new SteppedRun(flowOf('w', '', { w: { type: 'wait' } }));
    expect(run.start('w').plan).toEqual({ decide: ['own w'] });
    expect(run.wait('w', 10_000).plan).toEqual({ wakeAt: 10_000 });
    run.time = 10_000;
    expect(run.plan).toEqual({ fire: ['wait w'] });
    expect(run.complete('w').plan).toEqual({ outcome: 'completed' });
  });

  test('of an attempt goes on after a question, without what the answer took', () => {
    const run = new SteppedRun(flowOf('a', '', { a: { timeout: '20s' } })).start('a').send('a');
    expect(run.plan).toEqual({ wakeAt: 20_000 });
    run.time = 5_000;
    expect(run.ask('a').plan).toEqual({ outcome: 'input-required' });
    run.time = HOUR;
    expect(run.send('a').plan).toEqual({ wakeAt: HOUR + 15_000 });
    run.time = HOUR + 15_000;
    expect(run.plan).toEqual({ fire: ['timeout a'] });
    expect(run.retry('a', 1_000).plan).toEqual({ wakeAt: HOUR + 16_000 });
  });

  test('of a call begins with its Message, or where its Task goes on without one', () => {
    const run = new SteppedRun(flowOf('a', '')).start('a');
    expect(run.node('a').sentAt).toBeUndefined();
    run.time = 1_000;
    const sentAt = run.send('a').node('a').sentAt!;
    run.time = HOUR;
    expect(run.ask('a').node('a').sentAt).toBe(sentAt);
    expect(Date.parse(run.resumeNode('a').node('a').sentAt!) - Date.parse(sentAt)).toBe(HOUR - 1_000);
  });

  test('of a question is none of the attempt, and ends with the answer', () => {
    const run = new SteppedRun(flowOf('a', '', { a: { onWait: { deadline: '10s' } } })).ask('a');
    expect(run.open('a').plan).toEqual({ outcome: 'input-required', wakeAt: 10_000 });
    expect(run.receive().plan).toEqual({ answer: ['a'], outcome: 'input-required', wakeAt: 10_000 });
    run.time = 10_000;
    expect(run.plan).toEqual({ answer: ['a'], fire: ['question a'] });
    expect(run.send('a').plan).toEqual({});
  });

  test('of a question begins when the run asks it, and not while others work and nobody can answer', () => {
    const run = new SteppedRun(flowOf('a b', '', { a: { onWait: { deadline: '10s' } } })).start('b').ask('a');
    run.time = HOUR;
    expect(run.plan).toEqual({});
    expect(run.complete('b').plan).toEqual({ outcome: 'input-required' });
    expect(run.open('a').plan).toEqual({ outcome: 'input-required', wakeAt: HOUR + 10_000 });
    run.time = HOUR + 5_000;
    expect(run.open('a').plan).toEqual({ outcome: 'input-required', wakeAt: HOUR + 10_000 });
    run.time = HOUR + 10_000;
    expect(run.plan).toEqual({ fire: ['question a'] });
  });

  test('of the run stops everything, and is its failure', () => {
    const run = new SteppedRun(flowOf('a b', 'a>b', {}, { deadline: '1m', onFailure: 'continue' })).start('a');
    expect(run.plan).toEqual({ wakeAt: 60_000 });
    run.time = 60_000;
    expect(run.plan).toEqual({ fire: ['deadline'] });
    run.expire();
    expect(run.plan).toEqual({ stop: ['a'], report: ['failure: b'] });
    expect(run.cancel('a').report('off', 'b').plan).toEqual({ outcome: 'failed' });
    expect(run.state.error).toEqual({ kind: 'deadline', message: 'too late' });
  });

  test('of the run that is near keeps no run that is done', () => {
    const run = new SteppedRun(flowOf('a', '', {}, { deadline: '5s' })).complete('a');
    expect(run.plan).toEqual({ outcome: 'completed', wakeAt: 5_000 });
  });

  test('counts for nothing of what is canceled', () => {
    const keys = { a: { timeout: '20s' }, j: { join: { n: 1, cancelRest: true } } };
    const run = new SteppedRun(flowOf('a b j', 'a>j b>j', keys)).start('a').complete('b');
    run.time = 20_000;
    expect(run.plan).toEqual({ stop: ['a'], start: ['j'] });
  });
});

describe('an answer', () => {
  const asking = () => new SteppedRun(flowOf('a b a2', '')).ask('b').ask('a').complete('a2');

  test('is that of the first that asks, unless it names one', () => {
    expect(asking().receive().plan).toMatchObject({ answer: ['a'] });
    expect(asking().receive('b').plan).toMatchObject({ answer: ['b'] });
    expect(asking().receive('a2').plan).toEqual({ outcome: 'input-required' });
  });

  test('names an instance, or a node for the first of its instances that asks', () => {
    const of = () => {
      const run = new SteppedRun(flowOf('m', '', { m: { each: { items: 'inputs.list' } } })).items('m', 1, 2);
      return run.ask('m[0]').ask('m[1]');
    };
    expect(of().receive('m[1]').plan).toMatchObject({ answer: ['m[1]'] });
    expect(of().receive('m').plan).toMatchObject({ answer: ['m[0]'] });
  });
});

describe('the end of a run', () => {
  const onExit = [
    { node: 'always' },
    { node: 'good', on: 'success' as const },
    { node: 'bad', on: 'failure' as const },
  ];
  const definition = flowOf('a always good bad', '', {}, { onExit });

  test('is known before the nodes run that want to know it', () => {
    const run = new SteppedRun(definition);
    expect(run.plan).toEqual({ start: ['a'] });
    expect(run.complete('a').plan).toEqual({ decide: ['ending'] });
    run.ending('completed');
    expect(run.plan).toEqual({ start: ['always', 'good'], report: ['off: bad'], wakeAt: 300_000 });
    run.complete('always').fail('good').report('off', 'bad');
    expect(run.plan).toEqual({ outcome: 'completed', wakeAt: 300_000 });
    expect(run.state.error).toBeUndefined();
  });

  test('of a failed one runs those for failures, that of a canceled one those for all', () => {
    expect(new SteppedRun(definition).fail('a').ending('failed').plan).toMatchObject({ start: ['always', 'bad'] });
    const canceled = new SteppedRun(definition).start('a').cancel('a');
    expect(canceled.state.frontier.isBeingCanceled).toBe(true);
    canceled.ending('canceled');
    expect(canceled.state.frontier.isBeingCanceled).toBe(false);
    expect(canceled.plan).toMatchObject({ start: ['always'], wakeAt: 10_000 });
  });

  test('does not wait for them longer than they have time', () => {
    const run = new SteppedRun(definition).complete('a').ending('completed').report('off', 'bad').start('good');
    run.time = 300_000;
    expect(run.plan).toEqual({ stop: ['good'] });
    expect(run.cancel('good').plan).toEqual({ outcome: 'completed' });
  });

  test('hears no question of theirs: its time is over at once', () => {
    const run = new SteppedRun(definition).complete('a').ending('completed').report('off', 'bad').ask('good');
    expect(run.plan).toMatchObject({ start: ['always'], fire: ['question good'] });
    expect(run.fail('good').complete('always').plan).toMatchObject({ outcome: 'completed' });
  });

  test('has their results among none of its own', () => {
    expect(new SteppedRun(definition).state.graph.resultNodes().map(({ id }) => id)).toEqual(['a']);
  });
});

describe('what another run had', () => {
  test('takes the place of what would run', () => {
    const run = new SteppedRun(flowOf('a b', 'a>b')).reuse('a');
    expect(run.node('a')).toMatchObject({ status: 'completed', attempts: 0, origin: 'other' });
    expect(run.plan).toEqual({ start: ['b'] });
  });
});
