import type { SharedReads } from '#libs/postgres';
import { agentCondition, type FoundAgents } from './task-list-statement.js';
import type { TaskFilter } from './task-store.js';

/**
 * Finds the agents that a search means, among those of which the caller has Tasks: the counts of Tasks name them, so it
 * costs what there are agents, not what there are Tasks.
 */
export async function findAgents(reads: SharedReads, filter: TaskFilter): Promise<FoundAgents | undefined> {
  const { scope, agent, search } = filter;
  if (search === undefined) return undefined;
  const idPrefix = search.toLowerCase();
  const values: unknown[] = [scope.tenant, scope.owner, idPrefix];
  const among = agent === undefined ? '' : `AND ${agentCondition(agent, values)}`;
  const { rows } = await reads.query<{ agent: string }>(scope, {
    text: `SELECT DISTINCT agent FROM task_count
           WHERE tenant = $1 AND owner = $2 ${among} AND strpos(lower(substr(agent, strpos(agent, '/') + 1)), $3) > 0`,
    values,
  });
  return { agents: rows.map((row) => row.agent), idPrefix };
}
