import { useSharedStage } from '../support/shared-stage.js';
import { external, input, linear, output, unique } from '../support/workflow.js';

const stage = useSharedStage();

describe('what is known of a run beyond its state', () => {
  it('the workflow as it was when the run was started, also after it was deleted', async () => {
    const workflow = linear(unique('detail'), { ...input('in'), position: { x: 3, y: 4 } }, output('out'));
    const run = await stage.api.finish(workflow, { in: 'hello' });
    await stage.api.call('DELETE', `/workflows/${workflow.name}`);
    const reply = await stage.api.call('GET', `/runs/${run.runId}/workflow`);
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      name: workflow.name,
      nodes: [
        { id: 'in', type: 'input', config: {}, position: { x: 3, y: 4 } },
        { id: 'out', type: 'output', config: {} },
      ],
      edges: [{ from: 'in', to: 'out' }],
    });
    expect((await stage.api.call('GET', '/runs/nobody/workflow')).status).toBe(404);
  });

  it('what each node was sent', async () => {
    const prompted = output('out', { prompt: 'Say {{in}}!' });
    const { runId } = await stage.api.finish(linear(unique('detail'), input('in'), prompted), { in: 'hello' });
    const reply = await stage.api.call('GET', `/runs/${runId}/nodes/out`);
    expect(reply.body).toMatchObject({
      id: 'out',
      type: 'output',
      status: 'completed',
      input: [{ text: 'Say hello!' }],
      artifacts: [{ parts: [{ text: 'Say hello!' }] }],
    });
    expect((await stage.api.call('GET', `/runs/${runId}/nodes/nobody`)).status).toBe(404);
  });

  it('a node that was never started was sent nothing', async () => {
    const broken = linear(unique('detail'), external('x', 'http://127.0.0.1:1', { timeout: 1 }), output('out'));
    const { runId } = await stage.api.finish(broken);
    const { body } = await stage.api.call('GET', `/runs/${runId}/nodes/out`);
    expect(body).toMatchObject({ status: 'skipped' });
    expect(body).not.toHaveProperty('input');
  });
});
