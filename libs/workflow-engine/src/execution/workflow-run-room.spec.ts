import { runEventMetadata } from '#libs/protocol';
import type { WorkflowDefinition } from '#libs/workflow-definition';
import { useFakeTime } from '../../../../test/support/fake-time.js';
import { runParked } from '../state/run-steps.js';
import { answering, hang } from '../testing/answering-agents.js';
import { everyCrash } from '../testing/crashes.js';
import { DrivenRun, workflowOf } from '../testing/driven-run.js';
import { extended } from '../testing/extended-workflow.js';
import { FakeAgents } from '../testing/fake-agents.js';
import { FakeClock } from '../testing/fake-clock.js';
import { workLimits } from '../work/node-room.js';
import { WorkBudget } from '../work/work-budget.js';

FakeClock.advance = useFakeTime();

const ENTRIES = 6;

/** Workflow with a list of six entries that may all run at once. */
const LIST: WorkflowDefinition = extended(workflowOf('m out', 'm>out', { language: 2 }), {
  m: { each: { items: '[1, 2, 3, 4, 5, 6]', concurrency: ENTRIES } },
});

function narrow(levelNodes: number, definition = LIST, agents = new FakeAgents()): DrivenRun {
  const run = new DrivenRun(definition, agents);
  run.work = new WorkBudget(workLimits(levelNodes));
  return run;
}

/** Waits for twenty cycles of the event loop, after which nothing more happens by itself. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}

describe('a run for whose nodes there is not room', () => {
  test('starts as many as there is room for, and the next ones as those end', async () => {
    const run = narrow(2);
    const ended = run.start();
    for (let entry = 1; entry <= ENTRIES; entry += 1) {
      const call = await run.agents.called('m', entry);
      await settled();
      const open = run.sent.length - (entry - 1);
      expect({ entry, open }).toEqual({ entry, open: Math.min(2, ENTRIES - entry + 1) });
      expect(run.work.nodes.waitingNodes).toBe(Math.max(ENTRIES - entry - 1, 0));
      call.complete('done');
    }
    (await run.agents.called('out')).complete('out');
    expect(await ended).toBe('TASK_STATE_COMPLETED');
    expect(run.work.nodes).toMatchObject({ atWork: 0, waitingNodes: 0 });
  });

  test('comes to the same end after any crash', async () => {
    const whole = await everyCrash(
      LIST,
      () => answering(),
      async (run) => void (run.work = new WorkBudget(workLimits(1))),
    );
    expect(whole.task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  test('is canceled at once, with what waits and what is at work', async () => {
    const run = narrow(2, LIST, new FakeAgents(hang));
    const ended = run.start();
    await run.agents.called('m', 2);
    await settled();
    run.cancel();
    expect(await ended).toBe('TASK_STATE_CANCELED');
    expect(run.sent).toHaveLength(2);
    expect(run.agents.cancels).toHaveLength(2);
    expect(run.work.nodes).toMatchObject({ atWork: 0, waitingNodes: 0 });
  });

  test('counts a node that asks, or waits to be tried again, as none', async () => {
    const definition = extended(workflowOf('a b c', ''), { a: { retry: { attempts: 2, on: ['failed'] } } });
    const run = narrow(1, definition);
    void run.start();
    (await run.agents.called('a')).failAs('failed');
    (await run.agents.called('b')).task().status('TASK_STATE_INPUT_REQUIRED', 'which?').end();
    (await run.agents.called('c')).task();
    await settled();
    expect(run.state.getNode('b').status).toBe('input-required');
    expect(run.work.nodes).toMatchObject({ atWork: 1, waitingNodes: 0 });
    run.cancel();
    await run.latest;
  });

  test('counts a child run that is parked as none, until it goes on', async () => {
    const run = narrow(1, workflowOf('a b', ''));
    void run.start();
    const parked = await run.agents.called('a');
    const note = runParked.createNote({ until: '2030-01-01T00:00:00.000Z' });
    parked.task().status('TASK_STATE_WORKING', undefined, runEventMetadata(note));
    const other = await run.agents.called('b');
    parked.status('TASK_STATE_WORKING', 'at work again');
    await settled();
    expect(run.work.nodes.atWork).toBe(2);
    other.complete('b');
    parked.finish('TASK_STATE_COMPLETED');
    expect(await run.latest).toBe('TASK_STATE_COMPLETED');
  });
});
