import { setImmediate as turn } from 'node:timers/promises';
import { AgentCallError } from '#libs/a2a-client';
import { A2A_ERRORS, A2AError, dataPart, FORM_EXTENSION, type Message, textPart, userMessage } from '#libs/protocol';
import { DrivenRun, workflowOf } from '../testing/driven-run.js';
import { FakeAgents, type FakeCall } from '../testing/fake-agents.js';
import { LOOK_AT_REMOTE, questionId } from './asking-children.js';

/**
 * Starts a run in which two agents ask questions: `a` for input, `b` for authentication. Each answer leads to another
 * question.
 */
async function bothWaiting(): Promise<DrivenRun> {
  const agents = new FakeAgents((call) => {
    if (agents.calls.filter(({ node }) => node === call.node).length > 1)
      return call.finish('TASK_STATE_INPUT_REQUIRED', 'more?');
    if (call.node === 'a') call.finish('TASK_STATE_INPUT_REQUIRED', 'which a?');
    else call.finish('TASK_STATE_AUTH_REQUIRED', 'who b?');
  });
  const run = new DrivenRun(workflowOf('a b out', 'a>out b>out'), agents);
  expect(await run.start()).toBe('TASK_STATE_INPUT_REQUIRED');
  return run;
}

/** Sends a Message to a run with two open questions. Returns the Parts that were forwarded to each node, by node id. */
async function forwarded(message: Message): Promise<Record<string, Message['parts'] | undefined>> {
  const run = await bothWaiting();
  const before = run.agents.calls.length;
  await run.answer(message);
  return Object.fromEntries(run.agents.calls.slice(before).map((call) => [call.node, call.request?.message.parts]));
}

/** Converts the answer of an agent to the error that a client reports for it. */
function refusalOf(error: Error): AgentCallError {
  if (!(error instanceof A2AError)) return error as AgentCallError;
  const { code, message } = error;
  return new AgentCallError('rpc-error', `a2a error ${code}: ${message}`, { code, cause: error });
}

describe('WorkflowExecutor while a child waits', () => {
  test('waits for the caller only when nothing else can go on, and names the node (K8, N2)', async () => {
    const run = new DrivenRun(workflowOf('a b c', 'b>c'), new FakeAgents());
    const waiting = run.start();
    (await run.agents.called('a')).finish('TASK_STATE_INPUT_REQUIRED', 'which?');
    await run.until('a2a.received a');
    expect(run.task.status.state).toBe('TASK_STATE_WORKING');
    expect(run.state.getNode('a')).toMatchObject({ status: 'input-required', taskId: 'task-of-a' });
    (await run.agents.called('b')).complete('B');
    (await run.agents.called('c')).complete('C');
    expect(await waiting).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(run.task.status.message).toMatchObject({ parts: [textPart('which?')], metadata: { node: 'a' } });
    expect(run.runEvents.at(-1)).toMatchObject({
      type: 'input.required',
      node_id: 'a',
      payload: { question: 'which?', taskId: 'task-of-a' },
    });
    expect(run.state.status).toBe('input-required');
  });

  test.each([
    ['completed', (call: FakeCall) => call.complete('E'), 'TASK_STATE_COMPLETED'],
    ['failed', (call: FakeCall) => call.finish('TASK_STATE_FAILED', 'no'), 'TASK_STATE_FAILED'],
    [
      'asked anew',
      (call: FakeCall) => call.finish('TASK_STATE_INPUT_REQUIRED', 'and now?'),
      'TASK_STATE_INPUT_REQUIRED',
    ],
  ])('resumes an agent elsewhere that has %s without an answer, and sends it nothing', async (_what, ends, state) => {
    const run = new DrivenRun(workflowOf('ext', ''), new FakeAgents());
    const waiting = run.start();
    (await run.agents.called('ext')).finish('TASK_STATE_AUTH_REQUIRED', 'who?');
    await waiting;
    const asked = questionId(run.state.getInstance('ext'));
    const jobs = () => run.log.flatMap(({ jobs: each = [] }) => each).filter(({ name }) => name === LOOK_AT_REMOTE);
    expect(jobs()).toMatchObject([
      { payload: { node: 'ext', asked, looks: 0, wantsAuth: true, taskId: 'task-of-ext' } },
    ]);
    // The poll has found nothing, so the run keeps waiting.
    expect(await run.wake()).toBe('TASK_STATE_AUTH_REQUIRED');
    expect(run.agents.calls).toHaveLength(1);
    run.children.found.push({ nodeId: 'ext', asked });
    const ended = run.wake();
    const followed = await run.agents.called('ext', 2);
    expect([followed.kind, followed.taskId]).toEqual(['follow', 'task-of-ext']);
    ends(followed);
    expect(await ended).toBe(state);
    expect(run.steps).toContain('node.resumed ext');
    expect(run.sent).toEqual(['ext#1']);
    const [, over, ...next] = jobs();
    expect(over?.payload).toMatchObject({ over: true });
    expect(next.map(({ payload }) => payload['looks'])).toEqual(state === 'TASK_STATE_INPUT_REQUIRED' ? [1] : []);
  });

  test('ends the looks at an agent elsewhere with the answer that it is sent, and begins with the next question', async () => {
    const run = new DrivenRun(workflowOf('ext', ''), new FakeAgents());
    const waiting = run.start();
    (await run.agents.called('ext')).finish('TASK_STATE_INPUT_REQUIRED', 'which?');
    await waiting;
    const asked = questionId(run.state.getInstance('ext'));
    await nextMillisecond();
    const answered = run.answer(userMessage('this'));
    const second = await run.agents.called('ext', 2);
    run.children.found.push({ nodeId: 'ext', asked });
    second.finish('TASK_STATE_INPUT_REQUIRED', 'which?');
    expect(await answered).toBe('TASK_STATE_INPUT_REQUIRED');
    const jobs = run.log.flatMap(({ jobs: each = [] }) => each).filter(({ name }) => name === LOOK_AT_REMOTE);
    expect(jobs).toMatchObject([{ payload: { asked } }, { payload: { over: true } }, { payload: { looks: 0 } }]);
    expect(jobs[2]?.payload['asked']).not.toBe(asked);
    expect(run.agents.calls).toHaveLength(2);
  });

  test('passes the answer on to the same Task of the child and goes on from there', async () => {
    const run = new DrivenRun(workflowOf('a out', 'a>out'), new FakeAgents());
    const waiting = run.start();
    const first = await run.agents.called('a');
    first.finish('TASK_STATE_INPUT_REQUIRED', 'which?');
    await waiting;
    const ended = run.answer(userMessage([textPart('this'), dataPart([1])]));
    const second = await run.agents.called('a', 2);
    expect(second.request?.message).toMatchObject({
      taskId: 'task-of-a',
      contextId: 'context-1',
      parts: [textPart('this'), dataPart([1])],
    });
    expect(second.request?.message.messageId).not.toBe(first.request?.message.messageId);
    second.complete('A');
    (await run.agents.called('out')).complete('O');
    expect(await ended).toBe('TASK_STATE_COMPLETED');
    expect(run.steps.slice(4)).toEqual([
      'input.required a',
      'input.received',
      'a2a.sending a',
      'a2a.received a',
      'node.completed a',
      'node.started out',
      'a2a.sending out',
      'a2a.received out',
      'node.completed out',
      'done',
    ]);
    expect(run.state.getNode('a')).toMatchObject({ status: 'completed', attempts: 1 });
    expect(run.state.getNode('a').question).toBeUndefined();
  });

  test('keeps the context that a foreign agent chose', async () => {
    const run = new DrivenRun(workflowOf('ext', ''), new FakeAgents());
    const waiting = run.start();
    (await run.agents.called('ext')).finish('TASK_STATE_INPUT_REQUIRED', 'which?');
    await waiting;
    const ended = run.answer(userMessage('this'));
    const second = await run.agents.called('ext', 2);
    expect(second.request?.message).toMatchObject({ taskId: 'task-of-ext', contextId: 'context-of-ext' });
    second.complete('E');
    await ended;
  });

  test('several waiting nodes are all named', async () => {
    const run = await bothWaiting();
    expect(run.steps.slice(-2)).toEqual(['input.required b', 'input.required a']);
  });

  test('the first waiting node gets what names none', async () => {
    expect(await forwarded(userMessage('x'))).toEqual({ a: [textPart('x')] });
    expect(await forwarded(userMessage([dataPart({ other: 1 })]))).toEqual({ a: [dataPart({ other: 1 })] });
  });

  test('metadata or the keys of a data object name the node', async () => {
    expect(await forwarded(userMessage('x', { metadata: { node: 'b' } }))).toEqual({ b: [textPart('x')] });
    expect(await forwarded(userMessage([dataPart({ b: 'yes' })]))).toEqual({ b: [textPart('yes')] });
    expect(await forwarded(userMessage([dataPart({ b: { k: 1 }, a: 'A' })]))).toEqual({
      a: [textPart('A')],
      b: [dataPart({ k: 1 })],
    });
  });

  test('a Message to a node that does not wait goes nowhere, and the run asks again', async () => {
    expect(await forwarded(userMessage('x', { metadata: { node: 'out' } }))).toEqual({});
  });

  const unread = { field: 'message.parts[0].mediaType', description: 'must be text/plain' };

  test.each([
    ['what it cannot read', new A2AError('CONTENT_TYPE_NOT_SUPPORTED', { violations: [unread] }), [unread]],
    [
      'what is invalid',
      new A2AError('INVALID_PARAMS', { message: 'no' }),
      [{ field: 'answer', description: 'a2a error -32602: no' }],
    ],
    [
      'what is too large',
      new AgentCallError('client-error', 'HTTP 413', { status: 413 }),
      [{ field: 'answer', description: 'HTTP 413' }],
    ],
  ])(
    'an answer that its agent refuses leaves the question, and what was wrong is said: %s',
    async (_what, error, violations) => {
      const run = new DrivenRun(workflowOf('a', ''), new FakeAgents());
      const waiting = run.start();
      (await run.agents.called('a')).finish('TASK_STATE_AUTH_REQUIRED', 'who?');
      await waiting;
      const { askedAt } = run.state.getNode('a');
      const refused = run.answer(userMessage([dataPart([1])], { messageId: 'm-2' }));
      (await run.agents.called('a', 2)).throw(refusalOf(error));
      expect(await refused).toBe('TASK_STATE_AUTH_REQUIRED');
      expect(run.payloads('node.error')).toEqual([]);
      expect(run.state.getNode('a')).toMatchObject({ status: 'input-required', question: [textPart('who?')], askedAt });
      expect(run.task.status.message).toMatchObject({
        parts: [textPart('who?')],
        metadata: { node: 'a', [FORM_EXTENSION]: { violations } },
      });
      const ended = run.answer(userMessage('me', { messageId: 'm-3' }));
      const third = await run.agents.called('a', 3);
      expect(third.request?.message).toMatchObject({ taskId: 'task-of-a', parts: [textPart('me')] });
      third.finish('TASK_STATE_INPUT_REQUIRED', 'what?');
      expect(await ended).toBe('TASK_STATE_INPUT_REQUIRED');
      expect(run.task.status.message?.metadata).toEqual({ node: 'a' });
    },
  );

  test.each([
    ['TASK_NOT_FOUND', 'not-found'],
    ['INTERNAL', 'rpc-error'],
  ] as const)('a call of an answer that fails otherwise is the node’s failure: %s', async (reason, kind) => {
    const run = new DrivenRun(workflowOf('ext', ''), new FakeAgents());
    const waiting = run.start();
    (await run.agents.called('ext')).finish('TASK_STATE_INPUT_REQUIRED', 'which?');
    await waiting;
    const ended = run.answer(userMessage('this'));
    (await run.agents.called('ext', 2)).throw(new AgentCallError(kind, reason, { code: A2A_ERRORS[reason].code }));
    expect(await ended).toBe('TASK_STATE_FAILED');
  });

  test('a Message that begins a Task and is refused is the node’s failure', async () => {
    const refuses = new FakeAgents((call) => call.throw(refusalOf(new A2AError('INVALID_PARAMS'))));
    expect(await new DrivenRun(workflowOf('a', ''), refuses).start()).toBe('TASK_STATE_FAILED');
  });

  test('a failure stops the nodes that wait, too', async () => {
    const run = new DrivenRun(workflowOf('a b', ''), new FakeAgents());
    const ended = run.start();
    (await run.agents.called('a')).finish('TASK_STATE_INPUT_REQUIRED', 'which?');
    await run.until('a2a.received a');
    (await run.agents.called('b')).finish('TASK_STATE_FAILED', 'boom');
    expect(await ended).toBe('TASK_STATE_FAILED');
    expect(run.agents.cancels).toEqual([{ node: 'a', taskId: 'task-of-a' }]);
  });
});

/** Waits for the next millisecond, because questions are distinguished by the time of their Message. */
async function nextMillisecond(): Promise<void> {
  const now = Date.now();
  while (Date.now() === now) await turn();
}
