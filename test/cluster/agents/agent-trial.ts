import type { FakeAgent } from '../../support/fake-agent.js';
import type { Parley } from '../../support/parley.js';
import type { ReplicaCluster } from '../../support/replica-cluster.js';
import { storedLogs } from '../../support/stored-log.js';
import type { Api } from '../../support/workflow.js';
import { killAtEvents, type TrialOptions, type TrialResult } from '../events/kill-trial.js';
import { AGENT, AGENT_RUNS } from './agent-runs.js';
import { agentProblems, type CallCounts } from './agent-problems.js';
import { CALL_RUNS, callProblems, otherAnswer } from './call-runs.js';
import { talkProblems } from './talk-problems.js';
import { CRITIC, TALK_RUNS } from './talk-runs.js';
import type { ToolWorld } from './tool-world.js';
import { YesSayer } from './yes-sayer.js';

export interface AgentTrialStage {
  cluster: ReplicaCluster;
  api: Api;
  world: ToolWorld;
  /** Remote agent that agents call by a tool. It streams. */
  other: FakeAgent;
}

export interface AgentTrialResult extends TrialResult {
  counts: CallCounts;
}

/**
 * Kills the replica at each event of an agent with tools, and of the run that called it; of an agent that calls other
 * agents by tools; and of an agent that starts a conversation by a tool, of the conversation, and of one of its turns.
 */
export async function killAgents(
  { cluster, api, world, other }: AgentTrialStage,
  options: Omit<TrialOptions, 'scenarios'>,
): Promise<AgentTrialResult> {
  const kills: number[] = [];
  const kill = cluster.kill.bind(cluster);
  cluster.kill = async (replica: Parley) => {
    kills.push(Date.now());
    await kill(replica);
  };
  other.always(otherAnswer);
  const person = new YesSayer(api);
  try {
    const result = await killAtEvents(
      { cluster, api, agent: other },
      { ...options, scenarios: [...AGENT_RUNS, ...CALL_RUNS, ...TALK_RUNS] },
    );
    const found = await lookAt(cluster, world, kills, other);
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
  other: FakeAgent,
): Promise<{ problems: string[]; counts: CallCounts }> {
  const all = await storedLogs(query);
  const called = world.called();
  const found = all
    .filter(({ agent }) => agent.endsWith(`/nodes/${AGENT}`))
    .map((log) => agentProblems(log, called, kills));
  const conversations = new Set(all.filter(({ agent }) => agent === 'conversations').map(({ taskId }) => taskId));
  const turns = all
    .filter(({ agent, parentTaskId }) => agent.endsWith(`/nodes/${CRITIC}`) && conversations.has(parentTaskId ?? ''))
    .flatMap((log) => agentProblems(log, called, kills, 1).problems);
  const sum = (of: (counts: CallCounts) => number): number => found.reduce((all, { counts }) => all + of(counts), 0);
  return {
    problems: [
      ...found.flatMap(({ problems }) => problems),
      ...turns,
      ...callProblems(all, other.sends),
      ...(await talkProblems(query, all)),
    ],
    counts: {
      calls: sum(({ calls }) => calls),
      repeated: sum(({ repeated }) => repeated),
      asked: sum(({ asked }) => asked),
    },
  };
}
