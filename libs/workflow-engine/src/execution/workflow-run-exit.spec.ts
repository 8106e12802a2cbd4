import { type JsonValue, textPart, userMessage } from '#libs/protocol';
import type { WorkflowDefinition } from '#libs/workflow-definition';
import { useFakeTime } from '../../../../test/support/fake-time.js';
import { answer, answering, fail, hang } from '../testing/answering-agents.js';
import { everyCrash, outcomeOf } from '../testing/crashes.js';
import { DrivenRun, workflowOf } from '../testing/driven-run.js';
import { extended } from '../testing/extended-workflow.js';
import type { FakeCall } from '../testing/fake-agents.js';
import { FakeClock } from '../testing/fake-clock.js';

FakeClock.advance = useFakeTime();

/** Workflow of the node `a`, followed by the `onExit` nodes `always`, `good` and `bad`. */
const DEFINITION = extended(
  workflowOf('a b always good bad', 'a>b', {
    language: 2,
    onExit: [{ node: 'always' }, { node: 'good', on: 'success' }, { node: 'bad', on: 'failure' }],
  }),
  { bad: { config: { prompt: '${error.node}: ${error.kind}' } } },
);

const CANNOT_ASK = 'it cannot ask: the outcome of the run is already decided';
const EXIT = { language: 2 as const, onExit: [{ node: 'always' }] };
const SAYS = { always: { config: { prompt: '${nodes.m.status}' } } };
const LIST = extended(workflowOf('m after always', 'm>after', EXIT), {
  ...SAYS,
  m: { each: { items: '[1, 2, 3, 4]', concurrency: 2 } },
});
const NARROW = extended(workflowOf('a m after always', 'm>after', { ...EXIT, parallel: 1 }), SAYS);

describe('the nodes that run when a run is over', () => {
  test('are called once, each for its outcome: success', async () => {
    const run = await everyCrash(DEFINITION, () => answering());
    expect(run.sent).toEqual(['a#1', 'b#1', 'always#1', 'good#1']);
    expect(run.payloads('run.ending')).toEqual([{ outcome: 'completed' }]);
    expect(run.state.getNode('bad')).toMatchObject({ status: 'skipped', because: 'off' });
    expect(run.task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(run.task.artifacts?.map(({ artifactId }) => artifactId)).toEqual(['b']);
  });

  test('failure, of which they know', async () => {
    const run = await everyCrash(DEFINITION, () => answering({ a: fail }));
    expect(run.sent).toEqual(['a#1', 'always#1', 'bad#1']);
    expect(run.agents.calls.at(-1)?.text).toBe('a: failed');
    expect(run.task.status.state).toBe('TASK_STATE_FAILED');
    expect(run.state.error).toMatchObject({ kind: 'failed', node: 'a' });
  });

  test('failure, in which nothing else goes on: a list that was to begin with one that fails does not', async () => {
    const lists = extended(workflowOf('a m always', '', EXIT), {
      a: { each: { items: '1' } },
      m: { each: { items: '[1, 2]', concurrency: 1 } },
    });
    const run = new DrivenRun(lists, answering());
    await run.start();
    expect(run.sent).toEqual(['always#1']);
    expect(run.state.getNode('m')).toMatchObject({ status: 'canceled', attempts: 1 });
    expect(run.task.status.state).toBe('TASK_STATE_FAILED');
  });

  test('change nothing when they fail themselves', async () => {
    const run = await everyCrash(DEFINITION, () => answering({ always: fail, good: fail }));
    expect(run.payloads('node.error').map(({ error }) => error)).toEqual(['boom', 'boom']);
    expect(run.task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(run.state.error).toBeUndefined();
  });

  test('cannot ask: what does so fails at once, and its Task is canceled', async () => {
    const asks = (call: FakeCall): void => call.finish('TASK_STATE_INPUT_REQUIRED', 'which?');
    const fallback = { parts: [{ text: '${error.message}' }] };
    const definition = extended(DEFINITION, {
      always: { fallback },
      good: { onWait: { deadline: '1s', default: 'this' } },
    });
    const run = await everyCrash(definition, () => answering({ always: asks, good: asks }));
    expect(run.state.getNode('good').failure).toMatchObject({ kind: 'refused', message: CANNOT_ASK });
    expect(run.state.getNode('always')).toMatchObject({
      status: 'completed',
      artifacts: [{ parts: [{ text: CANNOT_ASK }] }],
    });
    expect(run.agents.cancels.map(({ node }) => node).toSorted()).toEqual(['always', 'good']);
    expect(run.task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  test('have five minutes', async () => {
    const run = new DrivenRun(DEFINITION, answering({ good: hang }));
    const whole = run.start();
    await run.agents.called('good');
    expect(Math.round((await run.clock.awaited()) / 60_000)).toBe(5);
    await run.clock.pass();
    expect(await whole).toBe('TASK_STATE_COMPLETED');
    expect(run.agents.cancels).toEqual([{ node: 'good', taskId: 'task-of-good' }]);
  });

  test('run after a cancel too, where they always do, and have ten seconds then', async () => {
    const run = new DrivenRun(DEFINITION, answering({ a: hang, always: hang }));
    const whole = run.start();
    await run.agents.called('a');
    run.cancel();
    const call = await run.agents.called('always');
    expect(call.aborted).toBe(false);
    expect(Math.round((await run.clock.awaited()) / 1_000)).toBe(10);
    call.complete('cleared');
    expect(await whole).toBe('TASK_STATE_CANCELED');
    expect(run.sent).toEqual(['a#1', 'always#1']);
    expect(run.agents.cancels).toEqual([{ node: 'a', taskId: 'task-of-a' }]);
    expect(run.state.getNode('always')).toMatchObject({ status: 'completed' });
    expect(run.state.children).toMatchObject([{ node: 'a', outcome: 'acknowledged' }]);
  });

  test('go on after a crash of the process that canceled', async () => {
    const run = new DrivenRun(DEFINITION, answering({ a: hang }));
    const whole = run.start();
    await run.agents.called('a');
    run.cancel();
    await whole;
    const begun = run.steps.indexOf('node.canceled a');
    for (let length = begun + 1; length < run.log.length; length += 1) {
      const other = new DrivenRun(DEFINITION, answering());
      expect(await other.recover(run.log.slice(0, length))).toBe('TASK_STATE_CANCELED');
      expect(other.steps.filter((step) => step === 'node.completed always')).toHaveLength(1);
      expect(other.state.children).toMatchObject([{ node: 'a', outcome: 'acknowledged' }]);
    }
  });

  test('are gone on with also where the wish to cancel is told again: they are not canceled with the run', async () => {
    const run = new DrivenRun(DEFINITION, answering({ a: hang }));
    const whole = run.start();
    await run.agents.called('a');
    run.cancel();
    await whole;
    const ended = run.steps.indexOf('node.completed always');
    for (let length = run.steps.indexOf('run.ending') + 1; length <= ended; length += 1) {
      const other = new DrivenRun(DEFINITION, answering());
      if (run.steps.slice(0, length).includes('a2a.sending always')) other.own.set('always#1', 'task-of-always');
      const rest = other.recover(run.log.slice(0, length));
      other.cancel();
      expect(await rest).toBe('TASK_STATE_CANCELED');
      expect(other.agents.cancels).toEqual([]);
      expect(other.state.getNode('always')).toMatchObject({ status: 'completed' });
    }
  });

  test('are called after a cancel as long as the run is not another replica’s', async () => {
    const definition = workflowOf('a ext', '', { language: 2, onExit: [{ node: 'ext' }] });
    const run = new DrivenRun(definition, answering({ a: hang, ext: hang }));
    const whole = run.start();
    await run.agents.called('a');
    run.cancel();
    (await run.agents.called('ext')).complete('cleared');
    expect(await whole).toBe('TASK_STATE_CANCELED');
    const sending = run.log.slice(0, run.steps.indexOf('a2a.sending ext') + 1);
    for (const isTakenOver of [false, true]) {
      const other = new DrivenRun(definition, answering({ ext: hang }));
      const rest = other.recover(sending);
      other.cancel();
      const call = await other.agents.called('ext');
      other.isTakenOver = isTakenOver;
      const leaving = call.options.fence?.().then(
        () => 'left',
        (error: unknown) => String(error),
      );
      expect(await leaving).toMatch(isTakenOver ? 'another replica has taken over the task' : 'left');
      call.complete('cleared');
      expect(await rest).toBe('TASK_STATE_CANCELED');
    }
  });

  test.each<[string, WorkflowDefinition, string, object]>([
    ['entry of a list', LIST, 'canceled', { 'm[0]': 'canceled', 'm[1]': 'canceled', after: 'skipped' }],
    ['node that waits for its place', NARROW, 'skipped', { a: 'canceled', m: 'skipped', after: 'skipped' }],
  ])('are all that starts after a cancel: no %s', async (_what, definition, seen, others) => {
    const first = ['m[0]#1', 'm[1]#1'];
    const agents = () => answering({ m: (call) => (first.includes(call.attempt) ? hang : answer)(call), a: hang });
    const run = new DrivenRun(definition, agents());
    const whole = run.start();
    await run.until(definition === LIST ? 'a2a.sending m[1]' : 'a2a.sending a');
    const sent = run.sent;
    run.cancel();
    expect(await whole).toBe('TASK_STATE_CANCELED');
    expect(run.sent).toEqual([...sent, 'always#1']);
    expect(run.agents.calls.at(-1)?.text).toBe(seen);
    const statuses = [...run.state.instances.values()].map(({ instance, status }) => [instance, status]);
    expect(Object.fromEntries(statuses)).toMatchObject({ ...others, always: 'completed' });
    const begun = run.steps.findIndex((step) => step.startsWith('node.canceled'));
    for (let length = begun + 1; length < run.log.length; length += 1) {
      const other = new DrivenRun(definition, agents());
      expect(await other.recover(run.log.slice(0, length))).toBe('TASK_STATE_CANCELED');
      expect(other.sent.filter((it) => it !== 'always#1')).toEqual([]);
      expect(outcomeOf(other)).toEqual(outcomeOf(run));
    }
  });

  test('are canceled with a run whose end they wait for', async () => {
    const run = new DrivenRun(DEFINITION, answering({ good: hang }));
    const whole = run.start();
    await run.until('node.completed always');
    run.cancel();
    expect(await whole).toBe('TASK_STATE_CANCELED');
    expect(run.agents.cancels).toEqual([{ node: 'good', taskId: 'task-of-good' }]);
  });
});

describe('a question that nobody answers in time', () => {
  const asks = (call: FakeCall): void => {
    if (call.request?.message.taskId === undefined) call.finish('TASK_STATE_INPUT_REQUIRED', 'which?');
    else call.complete(...(call.request.message.parts ?? []));
  };
  const asking = (byDefault?: JsonValue, keys: object = {}) =>
    extended(workflowOf('a b', 'a>b'), {
      a: { onWait: { deadline: '48h', ...(byDefault !== undefined && { default: byDefault }) }, ...keys },
    });

  /** Plays a run that asks a question and is recovered 48 hours later, without an answer. */
  async function unanswered(definition: ReturnType<typeof asking>): Promise<DrivenRun> {
    const first = new DrivenRun(definition, answering({ a: asks }));
    expect(await first.start()).toBe('TASK_STATE_INPUT_REQUIRED');
    const woken = new DrivenRun(definition, answering({ a: asks }));
    woken.own.set('a#1', 'task-of-a');
    FakeClock.advance(48 * 3_600_000);
    await woken.recover(first.log);
    return woken;
  }

  test.each<[JsonValue, object]>([
    ['no', { text: 'no' }],
    [{ decision: 'no' }, { data: { decision: 'no' } }],
  ])('is answered with the default %j', async (answer, part) => {
    const run = await unanswered(asking(answer));
    const [sent] = run.payloads('a2a.sending', 'a').slice(-1);
    expect(sent).toMatchObject({ taskId: 'task-of-a', answeredBy: 'deadline', parts: [part] });
    expect(run.agents.calls[0]?.request?.message).toMatchObject({ taskId: 'task-of-a', parts: [part] });
    expect(run.state.getNode('a')).toMatchObject({ status: 'completed', artifacts: [{ parts: [part] }] });
    expect(run.task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  test('fails its node where there is no default, and the question is withdrawn', async () => {
    const run = await unanswered(asking());
    expect(run.state.error).toMatchObject({ kind: 'timeout', message: 'node "a": no answer within 48h' });
    expect(run.agents.cancels).toEqual([{ node: 'a', taskId: 'task-of-a' }]);
    expect(run.task.status.state).toBe('TASK_STATE_FAILED');
  });

  test('is answered the same by whoever goes on after a crash', async () => {
    const whole = await unanswered(asking('no'));
    const asked = whole.steps.indexOf('input.required a');
    const ids = new Set<unknown>();
    for (let length = asked + 1; length < whole.log.length; length += 1) {
      const run = new DrivenRun(whole.definition, answering({ a: asks }));
      run.own.set('a#1', 'task-of-a');
      await run.recover(whole.log.slice(0, length));
      expect(run.task.status.state).toBe('TASK_STATE_COMPLETED');
      for (const { messageId } of run.payloads('a2a.sending', 'a').slice(1)) ids.add(messageId);
    }
    expect(ids.size).toBe(1);
  });

  test('is answered by a person before that as ever', async () => {
    const run = new DrivenRun(asking('no'), answering({ a: asks }));
    await run.start();
    await run.answer(userMessage([textPart('yes')]));
    expect(run.state.getNode('a')).toMatchObject({ status: 'completed', artifacts: [{ parts: [{ text: 'yes' }] }] });
  });
});
