import type { FakeAgent } from '../../support/fake-agent.js';
import type { Parley } from '../../support/parley.js';
import type { ReplicaCluster } from '../../support/replica-cluster.js';
import { storedLogs } from '../../support/stored-log.js';
import type { Api } from '../../support/workflow.js';
import { killAtEvents, type TrialOptions, type TrialResult } from '../events/kill-trial.js';
import { AGENT, AGENT_RUNS } from './agent-runs.js';
import { agentProblems, type CallCounts } from './agent-problems.js';
import type { ToolWorld } from './tool-world.js';
import { YesSayer } from './yes-sayer.js';

export interface AgentTrialStage {
  cluster: ReplicaCluster;
  api: Api;
  world: ToolWorld;
  /** Nobody calls it: what other trials need. */
  idle: FakeAgent;
}

export interface AgentTrialResult extends TrialResult {
  counts: CallCounts;
}

/** Kills the replica that executes an agent with tools, or the run that it works for, at each event of either. */
export async function killAgents(
  { cluster, api, world, idle }: AgentTrialStage,
  options: Omit<TrialOptions, 'scenarios'>,
): Promise<AgentTrialResult> {
  const kills: number[] = [];
  const kill = cluster.kill.bind(cluster);
  cluster.kill = async (replica: Parley) => {
    kills.push(Date.now());
    await kill(replica);
  };
  const person = new YesSayer(api);
  try {
    const result = await killAtEvents({ cluster, api, agent: idle }, { ...options, scenarios: AGENT_RUNS });
    const found = await lookAt(cluster, world, kills);
    const calls = world
      .called()
      .values()
      .reduce((sum, times) => sum + times, 0);
    return { ...result, calls, counts: found.counts, problems: [...result.problems, ...found.problems] };
  } finally {
    await person.stop();
  }
}

async function lookAt(
  { database: { query } }: ReplicaCluster,
  world: ToolWorld,
  kills: readonly number[],
): Promise<{ problems: string[]; counts: CallCounts }> {
  const logs = (await storedLogs(query)).filter(({ agent }) => agent.endsWith(`/nodes/${AGENT}`));
  const called = world.called();
  const found = logs.map((log) => agentProblems(log, called, kills));
  const sum = (of: (counts: CallCounts) => number): number => found.reduce((all, { counts }) => all + of(counts), 0);
  return {
    problems: found.flatMap(({ problems }) => problems),
    counts: {
      calls: sum(({ calls }) => calls),
      repeated: sum(({ repeated }) => repeated),
      asked: sum(({ asked }) => asked),
    },
  };
}
