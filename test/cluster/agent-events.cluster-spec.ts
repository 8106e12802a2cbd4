import { FakeAgent } from '../support/fake-agent.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { ReplicaCluster } from '../support/replica-cluster.js';
import { Api } from '../support/workflow.js';
import { type AgentTrialResult, killAgents } from './agents/agent-trial.js';
import { STEPS, ToolWorld } from './agents/tool-world.js';

/**
 * Places at which the replica is killed: events of the agent's Task (a repeatable and a non-repeatable call without a
 * result), and an early and a late event of the run.
 * `npm run chaos -- --each-event --agents` kills at every event of both.
 */
const PLACES = ['agent:11:before', 'agent:25:before', 'run:12:after', 'run:35:after'];
/** Places in a Task whose model calls two agents by tools: before and after each called Task is known. */
const CALL_PLACES = ['caller:5:after', 'caller:6:after', 'caller:10:after', 'caller:11:after'];
/** Places in a Task whose model has started a conversation by a tool, and in that conversation. */
const TALK_PLACES = ['poet:6:after', 'conversation:6:before'];

describe('runs of agents with tools, whose replica is killed at events of an agent, of a conversation and of the run', () => {
  let database: TestDatabase;
  let world: ToolWorld;
  let cluster: ReplicaCluster;
  let other: FakeAgent;
  let result: AgentTrialResult;

  beforeAll(async () => {
    const streaming = { streaming: true };
    [database, world, other] = await Promise.all([freshDatabase(), ToolWorld.start(), FakeAgent.start(streaming)]);
    cluster = await ReplicaCluster.start(database, { replicas: 3, env: world.env });
    const stage = { cluster, api: new Api(cluster.balancer.url), world, other };
    result = await killAgents(stage, {
      places: [...PLACES, ...CALL_PLACES, ...TALK_PLACES],
      side: 1,
      say: () => undefined,
    });
  });

  afterAll(async () => {
    await cluster?.stop();
    await Promise.all([world?.stop(), other?.stop()]);
    await database?.drop();
  });

  it('come to the same text, and call each tool and say each turn once, a tool again only where the kill cut the call off', () => {
    expect(result.problems).toEqual([]);
  });

  it('are all killed, and make again what that cut off, the one call after a question', () => {
    expect(result.scenarios.map(({ name, hits }) => [name, hits])).toEqual([
      ['agent', 2],
      ['run', 2],
      ['caller', 4],
      ['poet', 1],
      ['conversation', 1],
      ['critic', 0],
    ]);
    const withTools = result.scenarios.filter(({ name }) => ['agent', 'run'].includes(name));
    const runs = withTools.reduce((sum, it) => sum + it.runs + 1, 0);
    const { calls, repeated, asked } = result.counts;
    expect({ calls, repeated: repeated >= 2, asked: asked >= 1 }).toEqual({
      calls: runs * 2 * STEPS,
      repeated: true,
      asked: true,
    });
  });
});
