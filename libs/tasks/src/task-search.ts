import type { SharedReads } from '#libs/postgres';
import { agentCondition, type FoundAgents } from './task-list-statement.js';
import type { TaskFilter } from './task-store.js';

/**
 * Finds the agents that match a search, among those with Tasks of the caller. It reads the counts of Tasks, so its cost
 * depends on the number of agents, not of Tasks.
 */
export async function findAgents(reads: SharedReads, filter: TaskFilter): Promise<FoundAgents | undefined> {
  const { scope, agent, search } = filter;
  if (search === undefined) return undefined;
  const idPrefix = search.toLowerCase();
  const values: unknown[] = [scope.tenant, scope.owner, idPrefix];
  const among = agent === undefined ? '' : `AND ${agentCondition(agent, values)}`;
  const { rows } = await reads.queryInTurn<{ agent: string }>(scope, {
    text: `SELECT DISTINCT agent FROM task_count
           WHERE tenant = $1 AND owner = $2 ${among} AND strpos(lower(substr(agent, strpos(agent, '/') + 1)), $3) > 0`,
    values,
  });
  return { agents: rows.map((row) => row.agent), idPrefix };
}
