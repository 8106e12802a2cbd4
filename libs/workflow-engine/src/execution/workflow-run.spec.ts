import type { RequestContext } from '#libs/agents';
import { statusUpdate } from '#libs/protocol';
import type { RunState } from '../state/run-state.js';
import { shortenEvent } from './run-ending.js';
import { withFailureFact } from './workflow-run.js';

const REFERENCE = { taskId: 't', contextId: 'c' };
const CONTEXT = { ...REFERENCE, call: { scope: { tenant: 'acme', owner: 'ann' } } } as unknown as RequestContext;
const END = statusUpdate(REFERENCE, 'TASK_STATE_FAILED');

function failedAt(error?: RunState['error']): RunState {
  return { definition: { name: 'tea' }, error } as unknown as RunState;
}

it('brings with the end of a run, whole or shortened, that it failed, where and why', () => {
  const end = withFailureFact(END, CONTEXT, failedAt({ kind: 'failed', node: 'cup', message: 'no tea' }));
  const facts = [
    {
      name: 'run.failed',
      payload: { runId: 't', workflow: 'tea', tenant: 'acme', node: 'cup', kind: 'failed', cause: 'no tea' },
    },
  ];
  expect(end).toEqual({ ...END, facts });
  expect(shortenEvent(end)).toMatchObject({ facts });
});

it('brings why a run cannot go on where no node has failed', () => {
  const end = withFailureFact(END, CONTEXT, failedAt(), 'the run is too large');
  expect(end).toMatchObject({ facts: [{ payload: { runId: 't', cause: 'the run is too large' } }] });
});
