import type { QueryConfig } from 'pg';
import type { TaskFilter, TaskQuery } from './task-store.js';

/**
 * Maximum number of agents that are looked up one by one. For more agents, the Tasks of all agents are scanned in
 * order.
 */
const MOST_LOOKED_UP = 50;
/** Sorts after every text with a prefix, compared as bytes. */
const LAST = '\u{10ffff}';

/** Result of resolving a search: Tasks of these agents, or Tasks whose id begins with the prefix. */
export interface FoundAgents {
  agents: readonly string[];
  idPrefix: string;
}

/**
 * Returns a filter, except its search, as conditions on the table `task`. Those on tenant, owner, agent and state also
 * apply to `task_count`.
 */
export function conditionsOf(filter: TaskFilter): { conditions: string[]; values: unknown[] } {
  const values: unknown[] = [filter.scope.tenant, filter.scope.owner];
  const conditions = ['tenant = $1', 'owner = $2'];
  const add = (sql: (parameter: string) => string, value: unknown): void => {
    values.push(value);
    conditions.push(sql(`$${values.length}`));
  };
  if (filter.agent !== undefined) conditions.push(agentCondition(filter.agent, values));
  if (filter.agents !== undefined) add((it) => `agent = ANY(${it}::text[])`, filter.agents);
  if (filter.calledBy !== undefined) {
    const { taskId, elsewhere } = filter.calledBy;
    const ids = `$${values.push(elsewhere)}::text[]`;
    add((it) => `(parent_task_id = ${it} OR task_id = ANY(${ids}))`, taskId);
  }
  if (filter.taskIds !== undefined) add((it) => `task_id = ANY(${it}::text[])`, filter.taskIds);
  if (filter.contextId !== undefined) add((it) => `context_id = ${it}`, filter.contextId);
  if (filter.state !== undefined) add((it) => `state = ${it}`, filter.state);
  if (filter.updatedAfter !== undefined) add((it) => `updated_at >= ${it}`, filter.updatedAfter);
  return { conditions, values };
}

/**
 * Returns the statement for the rows of a page.
 * @param columns columns of `task`, and of the relations in `from`
 * @param found result of resolving the query's search
 */
export function pageStatement(query: TaskQuery, columns: string, from: string, found?: FoundAgents): QueryConfig {
  const { conditions, values } = conditionsOf(query);
  if (query.before !== undefined) {
    values.push(query.before.updatedAt, query.before.taskId);
    conditions.push(`(updated_at, task_id) < ($${values.length - 1}, $${values.length})`);
  }
  const limit = `$${values.push(query.limit)}`;
  const newest = (...more: string[]): string => `
    SELECT * FROM task WHERE ${[...conditions, ...more].join(' AND ')} ORDER BY updated_at DESC, task_id DESC LIMIT ${limit}`;
  const page = found ? foundPage(found, newest, values) : newest();
  return {
    text: `SELECT ${columns} FROM (SELECT * FROM (${page}) AS task ORDER BY updated_at DESC, task_id DESC LIMIT ${limit}) AS task
           ${from} ORDER BY updated_at DESC, task_id DESC`,
    values,
  };
}

/** Returns a query for the newest Tasks of each meaning of a search, each found by an index. */
function foundPage(
  { agents, idPrefix }: FoundAgents,
  newest: (...more: string[]) => string,
  values: unknown[],
): string {
  const [first, last] = [values.push(idPrefix), values.push(`${idPrefix}${LAST}`)];
  const byId = newest(`task_id >= $${first}`, `task_id < $${last}`);
  if (agents.length === 0) return byId;
  const all = `$${values.push(agents)}::text[]`;
  const byAgent =
    agents.length > MOST_LOOKED_UP
      ? newest(`agent = ANY(${all})`)
      : `SELECT of_agent.* FROM unnest(${all}) AS meant (agent), LATERAL (${newest('agent = meant.agent')}) AS of_agent`;
  return `(${byAgent}) UNION (${byId})`;
}

/** Returns the condition for `TaskFilter.agent`; adds its value to `values`. */
export function agentCondition(agent: string, values: unknown[]): string {
  const isPattern = agent.endsWith('/*');
  const it = `$${values.push(isPattern ? agent.slice(0, -1) : agent)}`;
  if (!isPattern) return `agent = ${it}`;
  return `starts_with(agent, ${it}) AND strpos(substr(agent, length(${it}) + 1), '/') = 0`;
}
