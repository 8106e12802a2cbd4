import { textPart } from '#libs/protocol';
import { ANONYMOUS_SCOPE, type TaskHeader } from '#libs/tasks';
import type { WorkflowDefinition, WorkflowEdge, WorkflowNode } from '#libs/workflow-definition';
import { DrivenRun } from '../testing/driven-run.js';
import { FakeAgents } from '../testing/fake-agents.js';
import { nodeDetail } from './run-view.js';

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

/**
 * Runs a definition to its end, and returns the views of its instances. Each agent answers with the text that it was
 * sent.
 */
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

  test('shows what an iteration made that is long over, and what it was sent then', async () => {
    const detail = await detailsOf(
      [{ config: { prompt: 'draft ${iteration}' } }, { id: 'b', config: { prompt: 'after {{a}} and {{b}}' } }],
      [
        { from: 'a', to: 'b' },
        { from: 'b', to: 'a', loop: { max_iterations: 4 } },
      ],
    );
    expect(detail('a@1')).toMatchObject({ artifacts: [{ parts: [textPart('said draft 1')] }] });
    // Each agent answers with the text that it was sent.
    for (const name of ['a@2', 'b@1', 'b@2', 'b@3', 'b@4']) {
      const { input, artifacts } = detail(name) ?? {};
      expect(artifacts).toMatchObject([{ parts: [textPart(`said ${input?.[0]?.text}`)] }]);
    }
    expect(detail('b@2')?.input?.[0]?.text).toContain('after said draft 2 and said after said draft 1');
  });

  test('shows the entries of a list, and what they were sent', async () => {
    const detail = await detailsOf([{ config: { prompt: 'say ${item}' }, each: { items: "['x', 'y']" } }], []);
    expect(detail('a')).not.toHaveProperty('input');
    expect(detail('a[1]')).toMatchObject({ id: 'a', status: 'completed', attempts: 1, input: [textPart('say y')] });
    expect(detail('a[2]')).toBeUndefined();
  });
});
