import type { SpanStep } from '#libs/agents';
import { userMessage } from '#libs/protocol';
import { DrivenRun, workflowOf } from '../testing/driven-run.js';
import { FakeAgents } from '../testing/fake-agents.js';
import { runSpanSteps } from './workflow-executor.js';

/** Returns the begins and ends of a run's spans as texts, such as `begins a`, `ends a` and `ends b failed`. */
function shown({ log }: DrivenRun): string[] {
  return log.flatMap(runSpanSteps).map((step) => {
    if ('begins' in step) return `begins ${step.begins.slot}`;
    return ['ends', step.ends.slot, ...(step.ends.error === undefined ? [] : [step.ends.error])].join(' ');
  });
}

const keys = ({ log }: DrivenRun): unknown[] =>
  log.flatMap(runSpanSteps).flatMap((step: SpanStep) => ('begins' in step ? [step.begins.key] : []));

describe('runSpanSteps', () => {
  it('tells of each call of a node, under the id of the Message that it is sent', async () => {
    const agents = new FakeAgents((call) =>
      call.node === 'b' ? call.finish('TASK_STATE_FAILED', 'no') : call.complete('A'),
    );
    const run = new DrivenRun(workflowOf('a b', 'a>b'), agents);
    await run.start();
    expect(shown(run)).toEqual(['begins a', 'ends a', 'begins b', 'ends b failed']);
    const sent = agents.calls.map(({ request }) => ['call', request?.message.messageId]);
    expect(keys(run)).toEqual(sent);
  });

  it('tells of a call for each thing that an agent is told, when it asks in between', async () => {
    const agents = new FakeAgents((call) => {
      if (agents.calls.length === 1) call.finish('TASK_STATE_INPUT_REQUIRED', 'which?');
      else call.complete('A');
    });
    const run = new DrivenRun(workflowOf('a', ''), agents);
    await run.start();
    await run.answer(userMessage('this'));
    expect(shown(run)).toEqual(['begins a', 'ends a', 'begins a', 'ends a']);
    expect(new Set(keys(run).map((key) => JSON.stringify(key))).size).toBe(2);
  });

  it('is the same after a crash at any event', async () => {
    const answering = (): FakeAgents => new FakeAgents((call) => call.complete(call.node));
    const whole = new DrivenRun(workflowOf('a b c', 'a>c b>c'), answering());
    await whole.start();
    for (let length = 1; length < whole.log.length; length += 1) {
      const rest = new DrivenRun(whole.definition, answering());
      await rest.recover(whole.log.slice(0, length));
      expect(new Set(keys(rest).map(String))).toEqual(new Set(keys(whole).map(String)));
      expect(shown(rest).toSorted()).toEqual(shown(whole).toSorted());
    }
  });
});
