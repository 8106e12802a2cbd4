import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { AgentCallError } from '#libs/a2a-client';
import { ContentTooLarge, runEventNote, userMessage } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import { DrivenRun, workflowOf } from '../testing/driven-run.js';
import { FakeAgents } from '../testing/fake-agents.js';
import { RunRoom } from './run-services.js';

const SENTENCE = 'The log of a task has at most 1000 bytes (TASK_LIMIT); this one would have more.';

const noteOf = (event: TaskEvent) => ('statusUpdate' in event ? runEventNote(event.statusUpdate.metadata) : undefined);

/** Returns a function that throws ContentTooLarge for steps of one type and one node, and accepts all other steps. */
function full(type: string, node: string): (event: TaskEvent) => void {
  return (event) => {
    const note = noteOf(event);
    if (note?.type === type && note.node_id === node) throw new ContentTooLarge(SENTENCE);
  };
}

function ended(run: DrivenRun) {
  const last = run.log.at(-1)!;
  const { status } = run.task;
  return {
    ...{ state: status.state, text: status.message?.parts[0]?.text },
    canceled: run.agents.cancels.map(({ node }) => node).toSorted(),
    jobs: last.jobs?.map(({ name }) => name),
  };
}

describe('A run that passes TASK_LIMIT', () => {
  it.each(['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'] as const)(
    'ends FAILED with its sentence, and leaves no child open, at work or in %s',
    async (asks) => {
      const run = new DrivenRun(workflowOf('works asks c d', 'c>d', { language: 2 }), new FakeAgents());
      const turn = run.start();
      (await run.agents.called('works')).task();
      (await run.agents.called('asks')).finish(asks, 'Well?');
      await run.until('a2a.received asks');
      run.admit = full('node.started', 'd');
      (await run.agents.called('c')).complete('done');
      await turn;
      expect(ended(run)).toEqual({
        ...{ state: 'TASK_STATE_FAILED', text: SENTENCE },
        canceled: ['asks', 'works'],
        jobs: ['tasks.end-children'],
      });
    },
  );

  it('leaves no child open that asks, where an answer to another one is too much for it', async () => {
    const ids = Array.from({ length: 12 }, (_, index) => `n${index}`);
    const run = new DrivenRun(workflowOf(ids.join(' '), '', { language: 2 }), new FakeAgents());
    const turn = run.start();
    for (const id of ids) (await run.agents.called(id)).finish('TASK_STATE_INPUT_REQUIRED', `${id}?`);
    await turn;
    run.admit = full('a2a.sending', 'n3');
    await run.answer(userMessage('yes', { metadata: { node: 'n3' } }));
    expect(ended(run)).toEqual({
      ...{ state: 'TASK_STATE_FAILED', text: SENTENCE },
      canceled: ids.toSorted(),
      jobs: ['tasks.end-children'],
    });
  });

  it('has the cancel of a child tried again that could not be reached', async () => {
    const run = new DrivenRun(workflowOf('extern', '', { language: 2 }), new FakeAgents());
    const turn = run.start();
    (await run.agents.called('extern')).task().finish('TASK_STATE_INPUT_REQUIRED', 'Well?');
    await turn;
    run.agents.cancelOutcome = () => Promise.reject(new AgentCallError('connect', 'nobody listens'));
    run.admit = full('a2a.sending', 'extern');
    await run.answer(userMessage('yes'));
    expect(ended(run)).toMatchObject({ state: 'TASK_STATE_FAILED', jobs: [expect.any(String), 'tasks.end-children'] });
  });
});

describe('A run whose node fails while its agent may still wait', () => {
  const cancelOf = (run: DrivenRun) => {
    const failure = run.log.findLast((event) => noteOf(event)?.type === 'node.error');
    return { canceled: run.agents.cancels, jobs: failure?.jobs?.map(({ name }) => name) };
  };

  it.each(['extern', 'asks'])('cancels a Task whose question is too large for it (%s)', async (id) => {
    const run = new DrivenRun(workflowOf(id, '', { language: 2 }), new FakeAgents());
    run.admit = full('a2a.received', id);
    const turn = run.start();
    (await run.agents.called(id)).finish('TASK_STATE_INPUT_REQUIRED', 'Well?');
    expect(await turn).toBe('TASK_STATE_FAILED');
    const [error] = run.payloads('node.error', id);
    expect(error).toMatchObject({ failure: { kind: 'refused', message: SENTENCE } });
    expect(cancelOf(run)).toEqual({ canceled: [{ node: id, taskId: `task-of-${id}` }], jobs: ['runs.cancel-child'] });
  });

  it('cancels the Task of an agent elsewhere that an answer has not reached', async () => {
    const run = new DrivenRun(workflowOf('extern', '', { language: 2 }), new FakeAgents());
    const turn = run.start();
    (await run.agents.called('extern')).finish('TASK_STATE_INPUT_REQUIRED', 'Well?');
    await turn;
    const answered = run.answer(userMessage('yes'));
    (await run.agents.called('extern', 2)).throw(new AgentCallError('connect', 'nobody listens'));
    expect(await answered).toBe('TASK_STATE_FAILED');
    expect(cancelOf(run)).toEqual({
      canceled: [{ node: 'extern', taskId: 'task-of-extern' }],
      jobs: ['runs.cancel-child'],
    });
  });

  it('cancels a Task at work whose answer cannot be reported', async () => {
    jest.spyOn(Logger.prototype, 'error').mockReturnValue();
    const run = new DrivenRun(workflowOf('works', '', { language: 2 }), new FakeAgents());
    const turn = run.start();
    jest.spyOn(RunRoom.prototype, 'receiveReport').mockImplementationOnce(() => {
      throw new TypeError('internal');
    });
    (await run.agents.called('works')).task();
    expect(await turn).toBe('TASK_STATE_FAILED');
    expect(cancelOf(run)).toEqual({
      canceled: [{ node: 'works', taskId: 'task-of-works' }],
      jobs: ['runs.cancel-child'],
    });
  });
});

describe('A run whose log is nearly full', () => {
  it('says so once, by an event, and goes on', async () => {
    const run = new DrivenRun(workflowOf('a b', 'a>b', { language: 2 }), new FakeAgents());
    const turn = run.start();
    run.nearlyFull = { bytes: 800, limit: 1_000 };
    (await run.agents.called('a')).finish('TASK_STATE_INPUT_REQUIRED', 'a?');
    await turn;
    const answered = run.answer(userMessage('yes'));
    (await run.agents.called('a', 2)).complete('done');
    (await run.agents.called('b')).complete('done');
    expect(await answered).toBe('TASK_STATE_COMPLETED');
    const message = 'The log of the run has 800 of at most 1000 bytes (TASK_LIMIT); at the limit the run fails.';
    expect(run.payloads('run.nearly-full')).toEqual([{ bytes: 800, limit: 1_000, message }]);
  });
});
