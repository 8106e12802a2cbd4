import { statusUpdate, userMessage } from '#libs/protocol';
import { Metrics } from '#libs/service';
import { RunState } from '../state/run-state.js';
import { nodeCompleted, nodeError, nodeStarted } from '../state/run-steps.js';
import { workflowOf } from '../testing/driven-run.js';
import { stepEvent } from './run-ending.js';
import { NodeMetrics } from './run-services.js';

const REFERENCE = { taskId: 'run-1', contextId: 'context-1' };

describe('NodeMetrics', () => {
  it('observes each node once, when it ends, by its type and outcome', async () => {
    const metrics = new Metrics();
    const nodes = new NodeMetrics(metrics);
    const state = new RunState(workflowOf('a ext', ''));
    const [a, ext] = [state.getNode('a'), state.getNode('ext')];
    const notes = [nodeStarted.createNote(a, { attempt: 1 }), nodeStarted.createNote(ext, { attempt: 1 })];
    const ends = [
      nodeCompleted.createNote(a, { status: 'completed' }),
      nodeError.createNote(ext, { error: 'no', message: 'no' }),
    ];
    for (const note of [...notes, ...ends]) {
      const event = stepEvent(REFERENCE, note);
      state.apply(event);
      nodes.observeEvent(event, state);
    }
    nodes.observeEvent({ ...statusUpdate(REFERENCE, 'TASK_STATE_WORKING'), received: userMessage('x') }, state);
    const text = await metrics.readExposition();
    expect(text).toContain('parley_node_duration_seconds_count{type="agent",outcome="completed"} 1');
    expect(text).toContain('parley_node_duration_seconds_count{type="external",outcome="failed"} 1');
    expect(text.match(/parley_node_duration_seconds_count/g)).toHaveLength(2);
  });
});
