import fc from 'fast-check';
import { type Message, runEventMetadata, userMessage } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { WorkflowDefinition } from '#libs/workflow-definition';
import { RunState } from '../state/run-state.js';
import { DrivenRun, workflowOf } from '../testing/driven-run.js';
import { FakeAgents, type FakeCall } from '../testing/fake-agents.js';

const DIAMOND = workflowOf('in a ext out', 'in>a in>ext a>out ext>out');

const answer = (call: FakeCall) => call.complete(`${call.node} done`);

async function wholeLog(definition: WorkflowDefinition): Promise<{ log: TaskEvent[]; sent: Map<string, string> }> {
  const run = new DrivenRun(definition, new FakeAgents(answer));
  await run.start();
  return { log: run.log, sent: new Map(run.agents.calls.map((call) => [call.node, messageId(call)])) };
}

function messageId(call: FakeCall): string {
  return call.request?.message.messageId ?? '';
}

/** Creates a run that a process recovers. The Tasks of the children in `known` are in the store. */
function recovering(definition: WorkflowDefinition, known: readonly string[]): DrivenRun {
  const run = new DrivenRun(definition, new FakeAgents(answer));
  for (const id of known) {
    if (id === 'ext') {
      run.children.remembered.push({
        runId: 'run-1',
        nodeId: id,
        attempt: 1,
        taskId: 'known-ext',
        agentUrl: 'http://remote/ext',
      });
    } else run.own.set(`${id}#1`, `known-${id}`);
  }
  return run;
}

describe('WorkflowExecutor that goes on from a log', () => {
  it.each(['cancel', 'continue'] as const)(
    'of a run that was being canceled: it ends canceled from any point on, whoever knows of the wish (%s)',
    async (onFailure) => {
      const definition = workflowOf('in a b', 'in>a in>b', { onFailure });
      const canceled = new DrivenRun(definition, new FakeAgents((call) => void (call.node === 'in' && answer(call))));
      const whole = canceled.start();
      await canceled.until('a2a.sending b');
      canceled.cancel();
      expect(await whole).toBe('TASK_STATE_CANCELED');
      const begun = canceled.steps.findIndex((step) => step.startsWith('node.canceled'));
      for (let length = begun + 1; length < canceled.log.length; length += 1) {
        const run = recovering(definition, []);
        expect(await run.recover(canceled.log.slice(0, length))).toBe('TASK_STATE_CANCELED');
        expect(run.agents.calls.filter(({ kind }) => kind === 'send')).toEqual([]);
        expect(run.steps.filter((step) => step.startsWith('node.canceled'))).toHaveLength(2);
        expect(RunState.fromEvents(definition, run.log).children).toEqual(
          RunState.fromEvents(definition, canceled.log).children,
        );
      }
    },
  );

  test('from any point: finished nodes are left alone, known children followed, others sent again as before', async () => {
    const { log, sent } = await wholeLog(DIAMOND);
    const points = fc.integer({ min: 1, max: log.length - 1 });
    await fc.assert(
      fc.asyncProperty(points, fc.subarray(['in', 'a', 'ext', 'out']), async (length, known) => {
        const prefix = log.slice(0, length);
        const before = RunState.fromEvents(DIAMOND, prefix);
        const run = recovering(DIAMOND, known);
        expect(await run.recover(prefix)).toBe('TASK_STATE_COMPLETED');
        for (const call of run.agents.calls) {
          const { status, messageId: sending } = before.getNode(call.node);
          expect(['pending', 'running']).toContain(status);
          const wasSent = status === 'running' && sending !== undefined;
          expect(call.kind).toBe(wasSent && known.includes(call.node) ? 'follow' : 'send');
          if (call.kind === 'send') expect(messageId(call)).toBe(sent.get(call.node));
          else expect(call.taskId).toBe(`known-${call.node}`);
        }
        const nodes = run.agents.calls.map((call) => call.node);
        expect(new Set(nodes).size).toBe(nodes.length);
        for (const type of ['node.started', 'a2a.sending', 'node.completed']) {
          for (const { id } of DIAMOND.nodes)
            expect(run.steps.filter((step) => step === `${type} ${id}`)).toHaveLength(1);
        }
        expect(run.state.stateMap()).toEqual({
          __user_input__in: 'hello',
          in: 'in done',
          a: 'a done',
          ext: 'ext done',
          out: 'out done',
        });
      }),
      { numRuns: 200 },
    );
  });

  test('calls in the order of the definition, whoever announced it', async () => {
    const definition = workflowOf('a later earlier', 'a>later');
    const first = new DrivenRun(definition, new FakeAgents());
    const ended = first.start();
    (await first.agents.called('a')).complete('A');
    await first.until('node.completed a');
    first.shutDown();
    await expect(ended).rejects.toThrow('This process stops');
    const run = recovering(definition, []);
    await run.recover(first.log.slice(0, first.steps.indexOf('node.completed a') + 1));
    expect(run.steps.indexOf('a2a.sending earlier')).toBeLessThan(run.steps.indexOf('a2a.sending later'));
    expect(run.agents.calls.map((call) => call.node)).toEqual(['later', 'earlier']);
  });

  test('asks for the steps of its agents that its log lacks, and has each once', async () => {
    const step = (type: string) => runEventMetadata({ type, payload: {} });
    const first = new DrivenRun(workflowOf('a', ''), new FakeAgents());
    const ended = first.start();
    const call = await first.agents.called('a');
    call.task().status('TASK_STATE_WORKING', '', step('model.request'));
    call.status('TASK_STATE_WORKING', '', step('model.response'));
    await first.until('model.response a');
    first.shutDown();
    await expect(ended).rejects.toThrow('This process stops');
    const second = new DrivenRun(first.definition, new FakeAgents());
    second.own.set('a#1', 'known-a');
    const outcome = second.recover(first.log);
    const followed = await second.agents.called('a');
    const missed = followed.options.missed!;
    expect(missed.count()).toBe(2);
    const notes = ['model.request', 'tool.result', 'node.progress'].map((type) => ({ type, payload: {} }));
    expect(notes.map((note) => missed.isRecorded(note))).toEqual([true, true, false]);
    followed.status('TASK_STATE_WORKING', '', step('tool.call'));
    await second.until('tool.call a');
    expect(missed.count()).toBe(3);
    followed.complete('done');
    expect(await outcome).toBe('TASK_STATE_COMPLETED');
  });

  test('finishes stopping after a failure, with Tasks that only the stores know', async () => {
    const first = new DrivenRun(workflowOf('a ext', ''), new FakeAgents());
    const ended = first.start();
    (await first.agents.called('ext')).task();
    (await first.agents.called('a')).finish('TASK_STATE_FAILED', 'boom');
    await ended;
    const cut = first.steps.indexOf('node.error a') + 1;
    const second = recovering(first.definition, ['ext']);
    expect(await second.recover(first.log.slice(0, cut))).toBe('TASK_STATE_FAILED');
    expect(second.agents.calls).toEqual([]);
    expect(second.agents.cancels).toEqual([{ node: 'ext', taskId: 'known-ext' }]);
    expect(second.state.error?.message).toBe('node "a": boom');
  });

  test('tells a failure once, wherever it was cut', async () => {
    const first = new DrivenRun(
      workflowOf('a', ''),
      new FakeAgents((call) => call.finish('TASK_STATE_FAILED', 'boom')),
    );
    await first.start();
    for (let length = first.steps.indexOf('node.error a') + 1; length < first.log.length; length++) {
      const second = recovering(first.definition, []);
      await second.recover(first.log.slice(0, length));
      expect(second.steps).toEqual(first.steps);
      expect(second.runEvents.map(({ payload }) => payload)).toEqual(first.runEvents.map(({ payload }) => payload));
    }
  });

  test('passes an answer on that was recorded, but not yet sent; and never twice', async () => {
    const message = userMessage('this');
    const first = new DrivenRun(workflowOf('a', ''), new FakeAgents());
    const waiting = first.start();
    (await first.agents.called('a')).finish('TASK_STATE_INPUT_REQUIRED', 'which?');
    await waiting;
    const ended = first.answer(message);
    const sent = await first.agents.called('a', 2);
    sent.complete('A');
    await ended;
    const received = first.steps.indexOf('input.received') + 1;
    expect(await answersAfter(first, received, [])).toEqual(['send']);
    expect(await answersAfter(first, received + 1, [])).toEqual(['follow', 'send']);
    expect(await answersAfter(first, received + 1, [{ ...message, messageId: messageId(sent) }])).toEqual(['follow']);
  });
});

/**
 * Recovers a run from the first `length` events of its log, and returns the kinds of the calls to its agents. The
 * child's Task still waits, and its history has the Messages of `history`.
 */
async function answersAfter(first: DrivenRun, length: number, history: Message[]): Promise<string[]> {
  const run = new DrivenRun(
    first.definition,
    new FakeAgents((call) => {
      if (call.kind === 'send') call.complete('A');
      else call.task('TASK_STATE_INPUT_REQUIRED', { history }).end();
    }),
  );
  const end = await run.recover(first.log.slice(0, length));
  expect(end).toBe(history.length > 0 ? 'TASK_STATE_INPUT_REQUIRED' : 'TASK_STATE_COMPLETED');
  const ids = run.agents.calls.filter(({ kind }) => kind === 'send').map(messageId);
  for (const id of ids) expect(id).toBe(messageId(first.agents.calls[1] as FakeCall));
  return run.agents.calls.map(({ kind }) => kind);
}
