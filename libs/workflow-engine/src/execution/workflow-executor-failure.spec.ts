import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { AgentCallError } from '#libs/a2a-client';
import { DrivenRun, workflowOf } from '../testing/driven-run.js';
import { FakeAgents } from '../testing/fake-agents.js';

const statuses = (run: DrivenRun) =>
  Object.fromEntries([...run.state.nodes.values()].map(({ id, status }) => [id, status]));

describe('WorkflowExecutor after a failure', () => {
  test('cancels running siblings for real, skips the rest and ends with the first error (C7, C8, L9)', async () => {
    const run = new DrivenRun(workflowOf('a b ext last', 'a>b a>ext b>last ext>last'), new FakeAgents());
    const ended = run.start();
    (await run.agents.called('a')).complete('A');
    const [b, ext] = [await run.agents.called('b'), await run.agents.called('ext')];
    ext.task();
    await Promise.resolve();
    b.task().status('TASK_STATE_FAILED', 'Error: boom').end();
    expect(await ended).toBe('TASK_STATE_FAILED');
    expect(ext.aborted).toBe(true);
    expect(run.agents.cancels).toEqual([{ node: 'ext', taskId: 'task-of-ext' }]);
    expect(run.state.error).toEqual({ kind: 'failed', node: 'b', message: 'node "b": boom' });
    expect(run.task.status.message?.parts[0]?.text).toBe('node "b": boom');
    expect(statuses(run)).toEqual({ a: 'completed', b: 'failed', ext: 'canceled', last: 'skipped' });
    expect(run.steps.slice(-5)).toEqual([
      'a2a.received b',
      'node.error b',
      'node.canceled ext',
      'workflow.failed',
      'done',
    ]);
    expect(run.runEvents.at(-1)).toMatchObject({
      status: 'failed',
      error: 'node "b": boom',
      session_id: 'run-1',
      state: { a: 'A' },
    });
  });

  test('a node whose answer cannot be understood fails, and its run with it', async () => {
    jest.spyOn(Logger.prototype, 'error').mockReturnValue();
    const run = new DrivenRun(workflowOf('a', ''), new FakeAgents());
    const ended = run.start();
    const odd = Object.assign([], {
      filter: () => {
        throw new TypeError('Cannot convert object to primitive value');
      },
    });
    const answer = { artifactId: 'out', parts: [], metadata: { 'parley/unread-parts': odd } };
    (await run.agents.called('a')).task('TASK_STATE_COMPLETED', { artifacts: [answer] }).end();
    expect(await ended).toBe('TASK_STATE_FAILED');
    expect(run.state.error).toMatchObject({ node: 'a', message: 'node "a": internal error' });
  });

  test('the first error wins over a later one (C7)', async () => {
    const run = new DrivenRun(workflowOf('a b', ''), new FakeAgents());
    const ended = run.start();
    const [a, b] = [await run.agents.called('a'), await run.agents.called('b')];
    b.finish('TASK_STATE_FAILED', 'first');
    a.finish('TASK_STATE_FAILED', 'second');
    await ended;
    expect(run.state.error?.message).toBe('node "b": first');
    expect(run.steps).not.toContain('node.error a');
  });

  test('waits for the Task of an own node that is only just being made, to cancel it', async () => {
    const run = new DrivenRun(workflowOf('a b', ''), new FakeAgents());
    const ended = run.start();
    const [a, b] = [await run.agents.called('a'), await run.agents.called('b')];
    a.finish('TASK_STATE_FAILED', 'boom');
    await run.until('node.error a');
    b.task();
    await ended;
    expect(run.agents.cancels).toEqual([{ node: 'b', taskId: 'task-of-b' }]);
  });

  test('closes the connection to a foreign agent, with or without a Task', async () => {
    const run = new DrivenRun(workflowOf('a ext', ''), new FakeAgents());
    const ended = run.start();
    const ext = await run.agents.called('ext');
    (await run.agents.called('a')).finish('TASK_STATE_FAILED', 'boom');
    await ended;
    expect(ext.aborted).toBe(true);
    expect(run.agents.cancels).toEqual([]);
    expect(run.runEvents.find(({ type }) => type === 'node.canceled')?.payload).toMatchObject({
      outcome: 'unknown',
    });
  });

  test('continue skips only what descends from the failure, and names the first', async () => {
    const definition = workflowOf('a b c d e', 'a>c b>d c>e d>e', { onFailure: 'continue' });
    const run = new DrivenRun(definition, new FakeAgents());
    const ended = run.start();
    (await run.agents.called('a')).finish('TASK_STATE_FAILED', 'boom');
    (await run.agents.called('b')).complete('B');
    (await run.agents.called('d')).finish('TASK_STATE_REJECTED', 'no');
    expect(await ended).toBe('TASK_STATE_FAILED');
    expect(statuses(run)).toEqual({ a: 'failed', b: 'completed', c: 'skipped', d: 'failed', e: 'skipped' });
    expect(run.state.error).toEqual({ kind: 'failed', node: 'a', message: 'node "a": boom' });
    expect(run.state.getNode('d').error).toBe('the node was rejected: no');
  });

  test('an external node without an endpoint has no URL, and nothing else starts (C6)', async () => {
    const definition = workflowOf('a ext b', '');
    if (definition.nodes[1]) definition.nodes[1].config = {};
    const run = new DrivenRun(definition, new FakeAgents());
    expect(await run.start()).toBe('TASK_STATE_FAILED');
    expect(run.state.error).toEqual({ kind: 'refused', node: 'ext', message: 'no URL for node "ext"' });
    expect(statuses(run)).toEqual({ a: 'canceled', ext: 'failed', b: 'skipped' });
    expect(run.agents.calls).toEqual([]);
  });

  test.each([
    ['ext', 'external agent call to http://remote/ext: a2a error -32000: test error'],
    ['a', 'a2a error -32000: test error'],
  ])('a failed call of %s quotes the cause (B7, E4)', async (node, error) => {
    const failure = new AgentCallError('rpc-error', 'a2a error -32000: test error', { code: -32000 });
    const run = new DrivenRun(workflowOf(node, ''), new FakeAgents((call) => call.throw(failure)));
    expect(await run.start()).toBe('TASK_STATE_FAILED');
    expect(run.state.error?.message).toBe(`node "${node}": ${error}`);
    expect(run.steps).toEqual([
      'node.started',
      `node.started ${node}`,
      `a2a.sending ${node}`,
      `node.error ${node}`,
      'workflow.failed',
      'done',
    ]);
  });

  test('an agent that cannot be reached fails its node (B8)', async () => {
    const run = new DrivenRun(workflowOf('ext', ''), new FakeAgents());
    run.agents.resolve = () => {
      throw new AgentCallError('connect', 'connection refused');
    };
    await run.start();
    expect(run.state.getNode('ext').error).toBe('external agent call to http://remote/ext: connection refused');
  });

  test('a definition without anything new says of which kind its failure is, beside the text', async () => {
    const late = new AgentCallError('timeout', 'timeout: no answer');
    const run = new DrivenRun(workflowOf('a b', 'a>b'), new FakeAgents((call) => call.throw(late)));
    await run.start();
    const failure = { kind: 'timeout', message: 'timeout: no answer', node: 'a' };
    expect(run.payloads('node.error', 'a')).toEqual([{ error: failure.message, message: expect.any(String), failure }]);
    expect(run.state.error).toEqual({ ...failure, message: 'node "a": timeout: no answer' });
  });

  test('an unexpected error of a call never shows its text', async () => {
    const run = new DrivenRun(
      workflowOf('a', ''),
      new FakeAgents((call) => call.throw(new TypeError('secret internals'))),
    );
    await run.start();
    expect(run.state.getNode('a').error).toBe('internal error');
  });

  test.each([
    ['TASK_STATE_FAILED', undefined, 'external agent http://remote/ext failed'],
    ['TASK_STATE_FAILED', 'out of paper', 'external agent http://remote/ext failed: out of paper'],
    ['TASK_STATE_CANCELED', undefined, 'external agent http://remote/ext canceled'],
    ['TASK_STATE_REJECTED', 'not you', 'external agent http://remote/ext rejected: not you'],
  ] as const)('a remote Task that ends %s is no success (K8, E4)', async (state, text, error) => {
    const run = new DrivenRun(workflowOf('ext out', 'ext>out'), new FakeAgents((call) => call.finish(state, text)));
    expect(await run.start()).toBe('TASK_STATE_FAILED');
    expect(run.state.error?.message).toBe(`node "ext": ${error}`);
    expect(run.agents.calls).toHaveLength(1);
  });

  test('an answer that stops half-way is no success', async () => {
    const run = new DrivenRun(workflowOf('a', ''), new FakeAgents((call) => call.task().end()));
    await run.start();
    expect(run.state.getNode('a').error).toBe('the agent did not finish its answer');
  });

  test('an external agent has no longer than its timeout, and its Task is canceled then (E8)', async () => {
    const definition = workflowOf('ext', '');
    if (definition.nodes[0]) definition.nodes[0].config['timeout'] = 0.05;
    const run = new DrivenRun(definition, new FakeAgents((call) => void call.task()));
    expect(await run.start()).toBe('TASK_STATE_FAILED');
    expect(run.state.error?.message).toBe(
      'node "ext": external agent call to http://remote/ext: timeout: not finished within 0.05 s',
    );
    expect(run.agents.cancels).toEqual([{ node: 'ext', taskId: 'task-of-ext' }]);
  });
});
