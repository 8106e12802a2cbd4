import { AgentCallError } from '#libs/a2a-client';
import { A2A_ERRORS, formMessage, type JsonObject, textPart, userMessage } from '#libs/protocol';
import { type TaskEvent, type TaskHeader, toStreamResponse } from '#libs/tasks';
import type { WorkflowDefinition, WorkflowNode } from '#libs/workflow-definition';
import { useFakeTime } from '../../../../test/support/fake-time.js';
import { DrivenRun, workflowOf } from '../testing/driven-run.js';
import { FakeAgents } from '../testing/fake-agents.js';
import { FakeClock } from '../testing/fake-clock.js';

FakeClock.advance = useFakeTime();

const HOUR = 3_600_000;

/** Creates a run of `agent` nodes with these ids, and of the additional nodes `more`. */
function driven(
  ids: string,
  edges: string,
  more: WorkflowNode[] = [],
  fields: Partial<WorkflowDefinition> = {},
): DrivenRun {
  const definition = workflowOf(ids, edges, fields);
  definition.nodes.push(...more);
  return new DrivenRun(definition, new FakeAgents());
}

function wait(id: string, length: string): WorkflowNode {
  return { id, type: 'wait', config: { for: length } };
}

function last(run: DrivenRun) {
  const event = run.log.at(-1) as Extract<TaskEvent, { statusUpdate: unknown }>;
  const { status, metadata } = event.statusUpdate;
  return { event, status, waiting: metadata?.['parley/waiting'] };
}

/**
 * Returns the number of open questions in the metadata of the last status; `undefined` if that status lists all
 * questions.
 */
function lastOpen(run: DrivenRun) {
  return last(run).event.statusUpdate.metadata?.['parley/open-questions'] as { count: number } | undefined;
}

/** Returns the size of the log in bytes, from the event `after` on. The entries for the inbox are not counted. */
function bytesOf(run: DrivenRun, after = 0): number {
  return JSON.stringify(run.log.slice(after).map(toStreamResponse)).length;
}

async function asksForm(run: DrivenRun, id: string, call: number, form: JsonObject): Promise<void> {
  const agent = await run.agents.called(id, call);
  const message = formMessage({ taskId: agent.taskId, contextId: 'c' }, [textPart(`${id}?`)], { form });
  agent.task('TASK_STATE_INPUT_REQUIRED', { status: { state: 'TASK_STATE_INPUT_REQUIRED', message } }).end();
}

describe('A run that only waits for a time', () => {
  test('is parked until then, and goes on where it is woken', async () => {
    const run = driven('b', 'pause>b', [wait('pause', '1h')]);
    expect(await run.start()).toBe('TASK_STATE_WORKING');
    expect(run.steps.slice(-3)).toEqual(['node.started pause', 'node.waiting pause', 'run.parked']);
    const { waitsFor } = run.state.getNode('pause');
    expect(last(run).event.parks?.toISOString()).toBe(waitsFor?.until);
    expect(run.runEvents.at(-1)?.payload).toEqual({ until: waitsFor?.until });
    run.clock.skip(HOUR);
    const woken = run.wake();
    (await run.agents.called('b')).complete('B');
    expect(await woken).toBe('TASK_STATE_COMPLETED');
    expect(run.steps.filter((it) => it.endsWith('pause'))).toEqual([
      'node.started pause',
      'node.waiting pause',
      'node.completed pause',
    ]);
  });

  test('is parked again where it is woken too early', async () => {
    const run = driven('b', 'pause>b', [wait('pause', '1h')]);
    await run.start();
    const until = last(run).event.parks;
    expect(await run.wake()).toBe('TASK_STATE_WORKING');
    expect(run.steps.at(-1)).toBe('run.parked');
    expect(last(run).event.parks).toEqual(until);
  });

  test('is not parked for what is over in a moment, nor while something is at work', async () => {
    const run = driven('a', '', [wait('long', '1h'), wait('short', '10s')]);
    const parked = run.start();
    const call = await run.agents.called('a');
    await run.until('node.waiting short');
    expect(await run.clock.awaited()).toBeLessThanOrEqual(10_000);
    await run.clock.pass();
    await run.until('node.completed short');
    expect(run.steps).not.toContain('run.parked');
    call.complete('A');
    expect(await parked).toBe('TASK_STATE_WORKING');
    expect(run.steps.at(-1)).toBe('run.parked');
  });

  test('is parked until the first of its times', async () => {
    const run = driven('b', 'later>b sooner>b', [wait('later', '2h'), wait('sooner', '1h')]);
    await run.start();
    expect(last(run).event.parks?.toISOString()).toBe(run.state.getNode('sooner').waitsFor?.until);
  });
});

describe('A run that asks and waits for a time', () => {
  async function asking(length: string): Promise<DrivenRun> {
    const run = driven('a', 'pause>out a>out', [wait('pause', length), { id: 'out', type: 'output', config: {} }]);
    const waiting = run.start();
    (await run.agents.called('a')).finish('TASK_STATE_INPUT_REQUIRED', 'which?');
    expect(await waiting).toBe('TASK_STATE_INPUT_REQUIRED');
    return run;
  }

  test.each([
    ['a long one', '1h'],
    ['a short one', '5s'],
  ])('asks at once, and has a time: %s', async (_what, length) => {
    const run = await asking(length);
    const { event, status, waiting } = last(run);
    expect(event.parks?.toISOString()).toBe(run.state.getNode('pause').waitsFor?.until);
    expect(waiting).toEqual([{ node: 'a', instance: 'a', text: 'which?' }]);
    expect(status.message).toMatchObject({ parts: [textPart('which?')], metadata: { node: 'a' } });
    expect(event.questions).toEqual([
      { key: 'a', since: new Date(run.state.getNode('a').askedAt!), body: { node: 'a', text: 'which?' } },
    ]);
  });

  test('asks again what it asked, since when it asked first, after it was woken', async () => {
    const run = await asking('1h');
    const before = last(run).event.questions;
    run.clock.skip(HOUR);
    expect(await run.wake()).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(run.steps.slice(-3)).toEqual(['run.woken', 'node.completed pause', 'input.required a']);
    expect(last(run).event.questions).toEqual(before);
    expect(last(run).event.parks).toBeUndefined();
    const ended = run.answer(userMessage('this one'));
    (await run.agents.called('a', 2)).complete('A');
    (await run.agents.called('out')).complete('done');
    expect(await ended).toBe('TASK_STATE_COMPLETED');
  });

  test('is parked when it was answered and has only the time left', async () => {
    const run = await asking('1h');
    const parked = run.answer(userMessage('this one'));
    (await run.agents.called('a', 2)).complete('A');
    expect(await parked).toBe('TASK_STATE_WORKING');
    expect(run.steps.at(-1)).toBe('run.parked');
  });

  test('says of each question once that it is asked, and in its status that it still is', async () => {
    const run = driven('a b c', '', [], { onExit: [{ node: 'c' }] });
    const waiting = run.start();
    for (const id of ['a', 'b']) (await run.agents.called(id)).finish('TASK_STATE_INPUT_REQUIRED', `${id}?`);
    await waiting;
    const said = () => run.steps.filter((it) => it.startsWith('input.required'));
    expect(said()).toEqual(['input.required b', 'input.required a']);
    const again = run.answer(userMessage('no', { metadata: { node: 'b' } }));
    (await run.agents.called('b', 2)).finish('TASK_STATE_INPUT_REQUIRED', 'really?');
    await again;
    const once = run.answer(userMessage('yes', { metadata: { node: 'a' } }));
    (await run.agents.called('a', 2)).finish('TASK_STATE_INPUT_REQUIRED', 'which?');
    await once;
    expect(said().slice(2)).toEqual(['input.required b', 'input.required a', 'input.required a']);
    expect(last(run).waiting).toEqual([
      { node: 'a', instance: 'a', text: 'which?' },
      { node: 'b', instance: 'b', text: 'really?' },
    ]);
  });

  test('names all questions while they are few, and of many what is new, how many are open and where they are', async () => {
    const ids = Array.from({ length: 40 }, (_, index) => `n${index}`);
    const run = driven(ids.join(' '), '', [], { language: 2 });
    const asked = run.start();
    const form = { type: 'object', description: 'f'.repeat(3_000) };
    for (const id of ids) await asksForm(run, id, 1, form);
    await asked;
    const list = '/api/runs/run-1/instances?status=input-required';
    expect(lastOpen(run)).toEqual({ count: 40, inbox: '/api/inbox', list });
    const first = bytesOf(run);
    for (const [index, id] of ids.slice(0, 29).entries()) {
      const before = run.log.length;
      const answered = run.answer(userMessage('yes', { metadata: { node: id } }));
      (await run.agents.called(id, 2)).complete('done');
      await answered;
      // An answer may record the form of the first question again, but not the forms of all open questions.
      expect(bytesOf(run, before)).toBeLessThan(3 * 3_000 + 4_000);
      expect(last(run).waiting).toEqual([]);
      expect(lastOpen(run)?.count).toBe(39 - index);
    }
    expect(bytesOf(run)).toBeLessThan(first + 29 * (3 * 3_000 + 4_000));
    for (const id of ids.slice(29, 34)) {
      const answered = run.answer(userMessage('yes', { metadata: { node: id } }));
      (await run.agents.called(id, 2)).complete('done');
      await answered;
    }
    expect(last(run).waiting).toHaveLength(6);
    expect(lastOpen(run)).toBeUndefined();
  });

  test('is canceled with its question and its time', async () => {
    const run = await asking('1h');
    expect(await run.cancelWaiting()).toBe('TASK_STATE_CANCELED');
    expect(run.state.nodes.get('pause')?.status).toBe('canceled');
    expect(last(run).event.parks).toBeUndefined();
  });
});

describe('A run that was asked what is asked no more', () => {
  const went = (taskId: string): [string, TaskHeader] => [
    taskId,
    { taskId, state: 'TASK_STATE_WORKING' } as TaskHeader,
  ];

  test('is not told so by a store that does not know of the question yet', async () => {
    const run = driven('child b', 'child>b', [], { language: 2 });
    const known = (): [string, TaskHeader] => {
      const state = run.durable === run.log.length ? 'TASK_STATE_INPUT_REQUIRED' : 'TASK_STATE_WORKING';
      return ['task-of-child', { taskId: 'task-of-child', state, updatedAt: new Date(0) } as TaskHeader];
    };
    Object.defineProperty(run, 'headers', { get: () => new Map([known()]) });
    run.waitingMessages.set('task-of-child', userMessage('Well?'));
    const asked = run.start();
    (await run.agents.called('child')).task().finish('TASK_STATE_INPUT_REQUIRED', 'Well?');
    const turn = await Promise.race([asked, run.agents.called('child', 2)]);
    expect(turn).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(run.payloads('node.resumed')).toEqual([]);
  });

  test('follows the Task when it is woken, and goes on with what comes of it', async () => {
    const run = driven('child b', 'child>b', [], { language: 2 });
    const asked = run.start();
    (await run.agents.called('child')).task().finish('TASK_STATE_INPUT_REQUIRED', 'Well?');
    expect(await asked).toBe('TASK_STATE_INPUT_REQUIRED');
    run.headers.set(...went('task-of-child'));
    const woken = run.wake();
    const call = await run.agents.called('child', 2);
    expect([call.kind, call.taskId]).toEqual(['follow', 'task-of-child']);
    call.complete('by itself');
    (await run.agents.called('b')).complete('B');
    expect(await woken).toBe('TASK_STATE_COMPLETED');
    expect(run.payloads('node.resumed', 'child')).toEqual([{ taskId: 'task-of-child' }]);
    expect(run.sent).toEqual(['child#1', 'b#1']);
  });

  test('looks before it waits, and does not ask', async () => {
    const run = driven('child', '', [], { language: 2 });
    run.headers.set(...went('task-of-child'));
    const whole = run.start();
    (await run.agents.called('child')).task().finish('TASK_STATE_INPUT_REQUIRED', 'Well?');
    (await run.agents.called('child', 2)).complete('by itself');
    expect(await whole).toBe('TASK_STATE_COMPLETED');
    expect(run.steps).not.toContain('input.required child');
  });

  test('looks while something else is at work, less often each time', async () => {
    const run = driven('child slow', '', [], { language: 2 });
    const whole = run.start();
    const slow = await run.agents.called('slow');
    (await run.agents.called('child')).task().finish('TASK_STATE_INPUT_REQUIRED', 'Well?');
    const pauses: number[] = [];
    for (let looks = 0; looks < 4; looks += 1) {
      pauses.push(Math.round((await run.clock.awaited()) / 1_000));
      await run.clock.pass();
    }
    expect([...pauses, Math.round((await run.clock.awaited()) / 1_000)]).toEqual([2, 2, 4, 8, 16]);
    run.headers.set(...went('task-of-child'));
    await run.clock.pass();
    (await run.agents.called('child', 2)).complete('by itself');
    await run.until('node.completed child');
    slow.complete('at last');
    expect(await whole).toBe('TASK_STATE_COMPLETED');
  });

  test('takes an answer that its Task does not take any more for none, and follows it', async () => {
    const run = driven('child', '', [], { language: 2 });
    const asked = run.start();
    (await run.agents.called('child')).task().finish('TASK_STATE_INPUT_REQUIRED', 'Well?');
    await asked;
    const answered = run.answer(userMessage('late', { messageId: 'm-2' }));
    const refusal = await run.agents.called('child', 2);
    refusal.throw(new AgentCallError('rpc-error', 'it has ended', { code: A2A_ERRORS.UNSUPPORTED_OPERATION.code }));
    const followed = await run.agents.called('child', 3);
    expect([followed.kind, followed.taskId]).toEqual(['follow', 'task-of-child']);
    followed.complete('by itself');
    expect(await answered).toBe('TASK_STATE_COMPLETED');
    expect(run.payloads('node.error')).toEqual([]);
  });
});
