import { useCluster } from '../support/cluster-stage.js';
import { killAtEvents, type TrialResult } from './events/kill-trial.js';
import { behaviour, scenarios } from './events/scenarios.js';

const stage = useCluster({ replicas: 3 });

/**
 * Number of kills for each kind of run. `npm run chaos -- --each-event` kills at every event, and has waits that park a
 * run.
 */
const KILLS = 2;

describe('runs with every construct, whose replica is killed at their events', () => {
  let result: TrialResult;

  beforeAll(async () => {
    const agent = await stage.fake({ streaming: true });
    agent.always(behaviour(agent));
    const { cluster, api } = stage;
    const kinds = scenarios('200ms');
    result = await killAtEvents(
      { cluster, api, agent },
      { scenarios: kinds, most: KILLS, side: 4, say: () => undefined },
    );
  });

  it('come to the same as without, call nobody again who has answered, and leave nothing behind', () => {
    expect(result.problems).toEqual([]);
  });

  it('are all killed', () => {
    expect(result.scenarios.map(({ name, hits }) => [name, hits])).toEqual(
      ['whole', 'child', 'rerun', 'late'].map((name) => [name, KILLS]),
    );
  });
});
