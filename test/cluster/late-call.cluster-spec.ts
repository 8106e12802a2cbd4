import { useCluster } from '../support/cluster-stage.js';
import type { JsonObject } from '#libs/protocol';
import { answers, holds } from '../support/fake-behaviour.js';
import { mcp, mcpClient } from '../support/mcp.js';
import { until } from '../support/until.js';
import { external, linear, output, ruled, unique } from '../support/workflow.js';

const stage = useCluster({ replicas: 2 });

describe('an owner that stands still between two attempts to call an agent', () => {
  it('does not call it when it wakes: another replica has, and the node is finished', async () => {
    const [agent, other] = [await stage.fake(), await stage.fake()];
    agent.always({ httpStatus: 503 });
    const name = unique('late');
    await stage.api.save(linear(name, external('x', agent.url, { timeout: 120 })));
    const frozen = stage.replica(0);
    const runId = await stage.at(0).start(name);
    await agent.sent();
    frozen.freeze();
    try {
      agent.always(answers('done'));
      expect((await stage.at(1).ended(runId)).status).toBe('completed');
    } finally {
      agent.calls.splice(0);
      frozen.thaw();
    }
    await until(async () => (await fetch(`${frozen.url}/health/ready`)).ok, { what: 'it to be ready again' });
    const after = unique('after');
    await stage.api.save(linear(after, external('x', other.url)));
    expect((await stage.at(0).ended(await stage.at(0).start(after))).status).toBe('completed');
    expect(agent.sends).toEqual([]);
  });
});

describe('a call over MCP', () => {
  const asking = ruled('q', [{ when: { turn: 1 }, steps: [{ ask: 'Which?' }] }], [{ echo: true }, { complete: 'ok' }]);

  it('has its user asked by one replica, and takes the answer at any', async () => {
    const { name } = await stage.api.save(linear(unique('asks'), asking, output('out')));
    const answered = () => ({ action: 'accept', content: { answer: 'blue' } });
    // Each of its requests goes to another replica than the one before.
    const client = await mcpClient(`${stage.cluster.balancer.url}/mcp`, { mode: 'legacy', answers: answered });
    expect(await client.callTool({ name })).toMatchObject({ structuredContent: { out: 'blue' } });
    await client.close();
  });

  it('is a task that another replica answers for when the one that was called is killed', async () => {
    const agent = await stage.fake({ streaming: true });
    agent.always(holds('from afar'));
    const { name } = await stage.api.save(linear(unique('afar'), asking, external('x', agent.url)));
    const [a, b] = [stage.replica(0), stage.replica(1)];
    const { taskId } = (await mcp(`${a.url}/mcp`, 'tools/call', { name })).body.result as { taskId: string };
    const get = async (): Promise<JsonObject> => (await mcp(`${b.url}/mcp`, 'tasks/get', { taskId })).body.result ?? {};
    const [key = ''] = Object.keys((await get())['inputRequests'] as JsonObject);
    const inputResponses = { [key]: { action: 'accept', content: { answer: 'blue' } } };
    await mcp(`${a.url}/mcp`, 'tasks/update', { taskId, inputResponses });
    await agent.sent();
    await stage.cluster.kill(a);
    expect(await get()).toMatchObject({ taskId, status: 'working' });
    const ended = await until(async () => {
      // Whoever goes on calls it anew where the one that is dead had not yet heard of a Task.
      agent.release();
      const task = await get();
      return task['status'] === 'completed' && task;
    });
    expect(ended).toMatchObject({ result: { structuredContent: { x: 'from afar' } } });
  });
});
