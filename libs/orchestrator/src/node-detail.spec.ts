import { textPart } from '#libs/protocol';
import { ANONYMOUS_SCOPE, type TaskHeader } from '#libs/tasks';
import { nodeDetail } from './run-view.js';
import { DrivenRun } from './testing/driven-run.js';
import { FakeAgents } from './testing/fake-agents.js';
import type { WorkflowDefinition, WorkflowEdge, WorkflowNode } from './workflow.js';

const header: TaskHeader = {
  taskId: 'run-1',
  contextId: 'context-1',
  ...ANONYMOUS_SCOPE,
  agent: 'workflows/wf',
  state: 'TASK_STATE_WORKING',
  lastSequence: 1,
  createdAt: new Date(0),
  updatedAt: new Date(1000),
};

/** What is seen of instances once a run of a definition has ended; each agent says what it was sent. */
const detailsOf = async (nodes: Partial<WorkflowNode>[], edges: WorkflowEdge[]) => {
  const definition: WorkflowDefinition = {
    name: 'wf',
    language: 2,
    nodes: nodes.map((node) => ({ id: 'a', type: 'agent', config: {}, ...node })),
    edges,
  };
  const run = new DrivenRun(definition, new FakeAgents((call) => call.complete(textPart(`said ${call.text}`))));
  await run.start([textPart('go')]);
  return (name: string) => nodeDetail({ header, definition, events: run.log, baseUrl: 'http://base' }, name);
};

describe('nodeDetail', () => {
  test('shows the newest iteration of a node, and each that is named', async () => {
    const detail = await detailsOf(
      [{ config: { prompt: 'draft ${iteration}' } }],
      [{ from: 'a', to: 'a', loop: { max_iterations: 2 } }],
    );
    expect(detail('a')).toMatchObject({ id: 'a', status: 'completed', input: [textPart('draft 2')] });
    expect(detail('a@1')).toMatchObject({
      id: 'a',
      status: 'completed',
      input: [textPart('draft 1')],
      artifacts: [{ parts: [textPart('said draft 1')] }],
    });
    expect(detail('a@3')).toBeUndefined();
    expect(detail('b')).toBeUndefined();
  });

  test('shows the entries of a list; what they were sent is not known any more once all have ended', async () => {
    const detail = await detailsOf([{ config: { prompt: 'say ${item}' }, each: { items: "['x', 'y']" } }], []);
    expect(detail('a')).not.toHaveProperty('input');
    expect(detail('a[1]')).toMatchObject({ id: 'a', status: 'completed', attempts: 1 });
    expect(detail('a[1]')).not.toHaveProperty('input');
    expect(detail('a[2]')).toBeUndefined();
  });
});
