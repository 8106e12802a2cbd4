import { useCluster } from '../support/cluster-stage.js';
import { answers } from '../support/fake-behaviour.js';
import { until } from '../support/until.js';
import { external, linear, unique } from '../support/workflow.js';

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
      expect((await stage.at(1).ended(runId, 60_000)).status).toBe('completed');
    } finally {
      agent.calls.splice(0);
      frozen.thaw();
    }
    await until(async () => (await fetch(`${frozen.url}/health/ready`)).ok, { what: 'it to be ready again' });
    const after = unique('after');
    await stage.api.save(linear(after, external('x', other.url)));
    expect((await stage.at(0).ended(await stage.at(0).start(after))).status).toBe('completed');
    expect(agent.sends).toEqual([]);
  }, 120_000);
});
