import type { SlotOutcome } from '#libs/limits';
import { DrivenRun, workflowOf } from '../testing/driven-run.js';
import { FakeAgents } from '../testing/fake-agents.js';
import type { SlotRequest } from './run-services.js';

function limitedRun(concurrency: SlotRequest['concurrency'], outcome: SlotOutcome) {
  const run = new DrivenRun(workflowOf('in a', 'in>a', { concurrency }), new FakeAgents());
  const requests: SlotRequest[] = [];
  run.requestSlot = (request) => {
    requests.push(request as SlotRequest);
    return outcome;
  };
  return { run, requests };
}

const endOf = ({ task: { status } }: DrivenRun) => [status.state, status.message?.parts[0]?.text];

describe('A run of a workflow with concurrency', () => {
  it('requests a slot with its key once, before its first node', async () => {
    const concurrency = { limit: 2, key: 'inputs["in"] + run.contextId', onFull: 'skip' } as const;
    const { run, requests } = limitedRun(concurrency, 'held');
    const turn = run.start('x');
    (await run.agents.called('in')).finish('TASK_STATE_COMPLETED', 'x');
    (await run.agents.called('a')).finish('TASK_STATE_COMPLETED', 'done');
    expect(await turn).toBe('TASK_STATE_COMPLETED');
    expect(requests).toEqual([{ workflow: 'wf', key: 'xcontext-1', concurrency }]);
  });

  it('requests none after a crash once a node has begun', async () => {
    const { run } = limitedRun({ limit: 1 }, 'held');
    void run.start('x');
    await run.until('node.started in');
    const { run: recovered, requests } = limitedRun({ limit: 1 }, 'full');
    void recovered.recover(run.log.slice());
    (await recovered.agents.called('in')).finish('TASK_STATE_COMPLETED', 'x');
    expect(requests).toEqual([]);
  });

  it.each([
    [1, undefined, 'Skipped: 1 run of this workflow is under way (concurrency).'],
    [3, '"k"', 'Skipped: 3 runs of this workflow are under way for this key (concurrency).'],
  ])('is canceled with the reason if it does not wait for a slot: limit %i, key %s', async (limit, key, reason) => {
    const { run } = limitedRun({ limit, ...(key !== undefined && { key }), onFull: 'skip' }, 'full');
    await run.start('x');
    expect(endOf(run)).toEqual(['TASK_STATE_CANCELED', reason]);
    expect(run.sent).toEqual([]);
  });

  it('fails with the reason if too many runs wait', async () => {
    const { run } = limitedRun({ limit: 1 }, 'crowded');
    await run.start('x');
    expect(endOf(run)).toEqual(['TASK_STATE_FAILED', 'Too many runs of this workflow wait already (concurrency).']);
  });

  it('fails without a request if its key cannot be evaluated, and names the member', async () => {
    const { run, requests } = limitedRun({ limit: 1, key: 'inputs["in"].x' }, 'held');
    await run.start('x');
    expect(endOf(run)).toEqual(['TASK_STATE_FAILED', expect.stringContaining('concurrency.key, at ')]);
    expect(requests).toEqual([]);
  });
});
