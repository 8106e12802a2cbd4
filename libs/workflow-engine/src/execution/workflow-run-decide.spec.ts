import { textPart } from '#libs/protocol';
import type { WorkflowDefinition } from '#libs/workflow-definition';
import { answering, fail, hang, says } from '../testing/answering-agents.js';
import { everyCrash } from '../testing/crashes.js';
import { DrivenRun, workflowOf } from '../testing/driven-run.js';
import { extended } from '../testing/extended-workflow.js';

async function ended(definition: WorkflowDefinition, of = answering()): Promise<DrivenRun> {
  const run = new DrivenRun(definition, of);
  await run.start();
  return run;
}

function statuses({ state }: DrivenRun): Record<string, string> {
  return Object.fromEntries([...state.nodes.values()].map(({ id, status, because }) => [id, because ?? status]));
}

describe('edges with conditions', () => {
  const diamond = extended(
    workflowOf('a b c out', 'a>b a>c b>out c>out'),
    {},
    {
      'a>b': { when: "nodes.a.data.go == 'b'" },
      'a>c': { when: "nodes.a.data.go == 'c'" },
    },
  );

  test('of a diamond: the branch that was not taken is called by nobody, and the join runs once', async () => {
    const run = await everyCrash(diamond, () => answering({ a: says({ go: 'b' }) }));
    expect(run.sent).toEqual(['a#1', 'b#1', 'out#1']);
    expect(statuses(run)).toEqual({ a: 'completed', b: 'completed', c: 'off', out: 'completed' });
    expect(run.payloads('node.completed', 'a')).toMatchObject([{ taken: [0] }]);
    expect(run.payloads('node.skipped')).toEqual([{ instances: ['c'], because: 'off' }]);
    expect(run.agents.calls.at(-1)?.text).toBe('b done');
    expect(run.task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  test('of which none is taken: what follows is skipped, and the run completes', async () => {
    const run = await ended(diamond, answering({ a: says({ go: 'nowhere' }) }));
    expect(statuses(run)).toEqual({ a: 'completed', b: 'off', c: 'off', out: 'off' });
    expect(run.task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  test('the first one that holds, else the one without a condition', async () => {
    const definition = extended(
      workflowOf('a b c d', 'a>d a>b a>c'),
      { a: { branch: 'first' } },
      {
        'a>b': { when: 'nodes.a.data.n > 1' },
        'a>c': { when: 'nodes.a.data.n > 0' },
      },
    );
    const targets = async (n: number) => (await ended(definition, answering({ a: says({ n }) }))).sent.slice(1);
    expect(await targets(2)).toEqual(['b#1']);
    expect(await targets(1)).toEqual(['c#1']);
    expect(await targets(0)).toEqual(['d#1']);
  });

  test('one that cannot be decided is no false: its source fails', async () => {
    const definition = extended(workflowOf('a b c', 'a>b a>c'), {}, { 'a>b': { when: 'nodes.a.data.gone' } });
    const run = await everyCrash(definition, () => answering({ a: says({}) }));
    expect(run.sent).toEqual(['a#1']);
    const message = 'edges[0].when, at 13: field not found: gone';
    const failure = { kind: 'expression', message, node: 'a' };
    expect(run.payloads('edge.error', 'a')).toEqual([{ edge: 0, failure }]);
    expect(run.payloads('node.error', 'a')).toEqual([
      { error: message, message: `node "a": ${message}`, failure, taken: [] },
    ]);
    expect(run.state.error).toEqual({ ...failure, message: `node "a": ${message}` });
    expect(run.task.status.state).toBe('TASK_STATE_FAILED');
  });

  test.each(["'yes'", 'nodes.a.data', '1'])('one that is no boolean is no false either: %s', async (when) => {
    const definition = extended(workflowOf('a b', 'a>b'), {}, { 'a>b': { when } });
    const run = await ended(definition, answering({ a: says({}) }));
    expect(run.state.error).toMatchObject({ kind: 'expression', node: 'a' });
  });

  test('that failure may be handled, by an edge that knows of it', async () => {
    const definition = extended(
      workflowOf('a b handler', 'a>b a>handler'),
      {},
      {
        'a>b': { when: 'nodes.a.data.gone' },
        'a>handler': { on: 'failure', when: "error.kind == 'expression'" },
      },
    );
    const run = await everyCrash(definition, () => answering({ a: says({}) }));
    expect(statuses(run)).toEqual({ a: 'failed', b: 'off', handler: 'completed' });
    expect(run.task.status.state).toBe('TASK_STATE_COMPLETED');
  });
});

describe('edges for failures', () => {
  const definition = extended(
    workflowOf('a b catcher always', 'a>b a>catcher a>always'),
    {},
    {
      'a>catcher': { on: 'failure', when: "error.kind == 'failed' && error.message == 'boom'" },
      'a>always': { on: 'always' },
    },
  );

  test('are taken after one, which is handled then', async () => {
    const run = await everyCrash(definition, () => answering({ a: fail }));
    expect(run.sent).toEqual(['a#1', 'catcher#1', 'always#1']);
    expect(statuses(run)).toEqual({ a: 'failed', b: 'off', catcher: 'completed', always: 'completed' });
    expect(run.payloads('node.error', 'a')).toEqual([
      {
        error: 'boom',
        message: 'node "a": boom',
        failure: { kind: 'failed', message: 'boom', node: 'a' },
        taken: [1, 2],
      },
    ]);
    expect(run.task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(run.state.error).toBeUndefined();
  });

  test('are not taken without one, but for those that always are', async () => {
    const run = await ended(definition);
    expect(run.sent).toEqual(['a#1', 'b#1', 'always#1']);
    expect(statuses(run)).toMatchObject({ catcher: 'off' });
  });

  test('whose condition does not hold handle nothing', async () => {
    const unhandled = extended(definition, {}, { 'a>always': { on: 'failure', when: "error.kind == 'timeout'" } });
    const run = await ended(unhandled, answering({ a: (call) => call.finish('TASK_STATE_REJECTED', 'no') }));
    expect(run.sent).toEqual(['a#1']);
    expect(run.state.error).toMatchObject({ kind: 'rejected', node: 'a' });
    expect(run.task.status.state).toBe('TASK_STATE_FAILED');
  });

  test('one that cannot be decided then is not taken', async () => {
    const erring = extended(definition, {}, { 'a>always': { on: 'failure', when: 'nodes.a.data.gone' } });
    const run = await ended(erring, answering({ a: fail }));
    expect(run.sent).toEqual(['a#1', 'catcher#1']);
    expect(run.payloads('edge.error', 'a')).toMatchObject([{ edge: 2, failure: { kind: 'expression' } }]);
    expect(run.payloads('node.error', 'a')).toMatchObject([{ taken: [1], failure: { kind: 'failed' } }]);
  });
});

describe('joins', () => {
  const three = (join: WorkflowDefinition['nodes'][0]['join']) =>
    extended(workflowOf('a b c out', 'a>out b>out c>out'), { out: { ...(join && { join }) } });

  test('2 of 3 with a failure', async () => {
    const run = await everyCrash(three({ n: 2 }), () => answering({ a: fail }));
    expect(statuses(run)).toEqual({ a: 'failed', b: 'completed', c: 'completed', out: 'completed' });
    expect(run.sent.filter((it) => it === 'out#1')).toHaveLength(1);
    expect(run.task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  test('2 of 3 with two failures is out of reach, and the run fails with the first', async () => {
    const run = await ended(three({ n: 2 }), answering({ a: fail, b: fail }));
    expect(statuses(run)).toMatchObject({ out: 'out-of-reach' });
    expect(run.state.error).toMatchObject({ kind: 'failed', node: 'a' });
    expect(run.task.status.state).toBe('TASK_STATE_FAILED');
  });

  test('any with cancelRest cancels nothing before it is durable why', async () => {
    const agents = answering({ a: hang, b: hang });
    const run = new DrivenRun(three({ n: 1, cancelRest: true }), agents);
    const durable: string[][] = [];
    agents.cancelOutcome = async () => {
      durable.push(run.steps.slice(0, run.durable));
      return 'acknowledged';
    };
    await run.start();
    expect(durable).not.toEqual([]);
    for (const steps of durable) expect(steps).toContain('node.completed c');
  });

  test('any with cancelRest cancels what only leads to it', async () => {
    const run = new DrivenRun(three({ n: 1, cancelRest: true }), answering({ a: hang, b: hang }));
    await run.start();
    expect(run.agents.cancels).toEqual([
      { node: 'a', taskId: 'task-of-a' },
      { node: 'b', taskId: 'task-of-b' },
    ]);
    expect(statuses(run)).toEqual({ a: 'canceled', b: 'canceled', c: 'completed', out: 'completed' });
    expect(run.task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  test('a join does not wait for the cancel of the rest', async () => {
    const run = new DrivenRun(three({ n: 1, cancelRest: true }), answering({ a: hang, b: hang }));
    const { promise, resolve } = Promise.withResolvers<'acknowledged'>();
    run.agents.cancelOutcome = () => promise;
    const whole = run.start();
    await run.agents.called('out');
    resolve('acknowledged');
    await whole;
    expect(run.task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  test('any runs once, with what was there', async () => {
    const run = new DrivenRun(three('any'), answering({ a: hang, b: hang }));
    const whole = run.start();
    await run.until('node.completed out');
    (await run.agents.called('a')).complete('late');
    (await run.agents.called('b')).complete('late');
    await whole;
    expect(run.agents.calls.filter(({ node }) => node === 'out').map(({ text }) => text)).toEqual(['c done']);
  });
});

describe('what a node without a prompt is sent', () => {
  test('comes over edges that were taken', async () => {
    const definition = extended(workflowOf('a b out', 'a>out a>b b>out'), {}, { 'a>out': { when: 'false' } });
    const run = await ended(definition);
    expect(run.agents.calls.at(-1)?.request?.message.parts).toEqual([textPart('b done')]);
  });
});
