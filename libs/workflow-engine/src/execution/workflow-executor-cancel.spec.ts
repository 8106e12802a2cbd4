import type { CancelOutcome } from '#libs/a2a-client';
import { userMessage } from '#libs/protocol';
import { ANONYMOUS_SCOPE } from '#libs/tasks';
import { DrivenRun, workflowOf } from '../testing/driven-run.js';
import { FakeAgents } from '../testing/fake-agents.js';
import { readChildCancel } from './child-cancel.js';

async function runningTwo(outcome: CancelOutcome) {
  const run = new DrivenRun(workflowOf('a ext never', 'a>never ext>never'), new FakeAgents());
  run.agents.cancelOutcome = outcome;
  const ended = run.start();
  (await run.agents.called('a')).task();
  const ext = await run.agents.called('ext');
  return { run, ended, ext };
}

describe('WorkflowExecutor when its run is canceled', () => {
  test.each(['acknowledged', 'refused', 'unreachable'] as const)(
    'cancels the children; one is %s, of one no Task is known (L9)',
    async (outcome) => {
      const { run, ended, ext } = await runningTwo(outcome);
      run.cancel();
      expect(await ended).toBe('TASK_STATE_CANCELED');
      expect(ext.aborted).toBe(true);
      expect(run.state.children).toEqual([
        { node: 'a', agentUrl: 'http://own/a2a/workflows/wf/nodes/a', taskId: 'task-of-a', outcome },
        { node: 'ext', agentUrl: 'http://remote/ext', outcome: 'unknown' },
      ]);
      expect(run.steps.slice(-4)).toEqual(['node.canceled a', 'node.canceled ext', 'workflow.canceled', 'done']);
      expect(run.state.status).toBe('canceled');
      expect([...run.state.nodes.values()].map(({ status }) => status)).toEqual(['canceled', 'canceled', 'skipped']);
      expect(run.runEvents.at(-1)).toMatchObject({ status: 'canceled' });
      expect(run.runEvents.at(-1)?.error).toBeUndefined();
    },
  );

  test('cancels the Task that a foreign agent tells of a moment after the cancel', async () => {
    const { run, ended, ext } = await runningTwo('acknowledged');
    run.cancel();
    ext.task();
    await ended;
    expect(run.state.children).toContainEqual({
      node: 'ext',
      agentUrl: 'http://remote/ext',
      taskId: 'task-of-ext',
      outcome: 'acknowledged',
    });
  });

  test('does not know of a call that an earlier process announced whether it was made', async () => {
    const earlier = await runningTwo('acknowledged');
    earlier.run.shutDown();
    await expect(earlier.ended).rejects.toThrow('This process stops');
    const run = new DrivenRun(earlier.run.definition, new FakeAgents());
    run.own.set('a#1', 'task-of-a');
    run.cancel();
    await run.recover(earlier.run.log);
    expect(run.state.children?.map(({ node, outcome }) => [node, outcome])).toEqual([
      ['a', 'acknowledged'],
      ['ext', 'unknown'],
    ]);
  });

  test('does not know either where this process was about to make that call again', async () => {
    const earlier = await runningTwo('acknowledged');
    earlier.run.shutDown();
    await expect(earlier.ended).rejects.toThrow('This process stops');
    const run = new DrivenRun(earlier.run.definition, new FakeAgents());
    const calling = Promise.withResolvers<void>();
    run.agents.resolveClient = (url) => {
      if (url.endsWith('/ext')) calling.resolve();
      return new Promise(() => undefined);
    };
    const ended = run.recover(earlier.run.log);
    await calling.promise;
    run.cancel();
    await ended;
    expect(run.state.children).toContainEqual({ node: 'ext', agentUrl: 'http://remote/ext', outcome: 'unknown' });
  });

  test('has a cancel that did not reach its agent tried again, in the commit of that outcome', async () => {
    const { run, ended } = await runningTwo('unreachable');
    const before = Date.now();
    run.cancel();
    await ended;
    const jobs = run.log.map((event) => ('statusUpdate' in event ? event.jobs : undefined));
    expect(jobs.filter(Boolean)).toHaveLength(1);
    expect(run.steps[jobs.findIndex(Boolean)]).toBe('node.canceled a');
    const job = jobs.find(Boolean)?.[0];
    expect(job).toMatchObject({
      name: 'runs.cancel-child',
      key: 'runs.cancel-child/run-1/a#1',
      payload: {
        runId: 'run-1',
        node: 'a',
        attempt: 1,
        taskId: 'task-of-a',
        workflow: 'wf',
        revision: 'r1',
        scope: ANONYMOUS_SCOPE,
      },
    });
    expect(readChildCancel(JSON.parse(JSON.stringify(job?.payload)))).toEqual(job?.payload);
    expect(job?.runAt?.getTime()).toBeGreaterThan(before);
  });

  test.each(['acknowledged', 'refused'] as const)('has nothing tried again that was %s', async (outcome) => {
    const { run, ended } = await runningTwo(outcome);
    run.cancel();
    await ended;
    expect(run.log.filter((event) => 'jobs' in event)).toEqual([]);
  });

  test('cancels the children of a run that waits', async () => {
    const run = new DrivenRun(workflowOf('a b', 'a>b'), new FakeAgents());
    const waiting = run.start();
    (await run.agents.called('a')).finish('TASK_STATE_INPUT_REQUIRED', 'which?');
    expect(await waiting).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(await run.cancelWaiting()).toBe('TASK_STATE_CANCELED');
    expect(run.agents.cancels).toEqual([{ node: 'a', taskId: 'task-of-a' }]);
    expect(run.state.children).toMatchObject([{ node: 'a', taskId: 'task-of-a', outcome: 'acknowledged' }]);
  });

  test('cancels a child that was just given an answer', async () => {
    const run = new DrivenRun(workflowOf('a', ''), new FakeAgents());
    const waiting = run.start();
    (await run.agents.called('a')).finish('TASK_STATE_INPUT_REQUIRED', 'which?');
    await waiting;
    const ended = run.answer(userMessage('this'));
    await run.agents.called('a', 2);
    run.cancel();
    await ended;
    expect(run.agents.cancels).toEqual([{ node: 'a', taskId: 'task-of-a' }]);
  });

  test('a shutdown closes connections, but records nothing and cancels nobody', async () => {
    const { run, ended, ext } = await runningTwo('acknowledged');
    const before = run.log.length;
    run.shutDown();
    await expect(ended).rejects.toThrow('This process stops');
    expect(ext.aborted).toBe(true);
    expect(run.agents.cancels).toEqual([]);
    expect(run.log).toHaveLength(before);
  });
});
