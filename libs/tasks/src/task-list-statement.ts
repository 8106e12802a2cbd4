import type { QueryConfig } from 'pg';
import type { TaskFilter, TaskQuery } from './task-store.js';

/** Most agents that are looked up one by one; the Tasks of more of them are passed on the way through those of all. */
const MOST_LOOKED_UP = 50;
/** Sorts behind whatever begins with a prefix, as bytes. */
const LAST = '\u{10ffff}';

/** Result of reading a search: Tasks of these agents, or Tasks whose id begins so. */
export interface FoundAgents {
  agents: readonly string[];
  idPrefix: string;
}

/** A filter but for its search as conditions on `task`; those on tenant, owner, agent and state hold for `task_count` as well. */
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
 * The rows of a page.
 * @param columns of `task`, and of what `from` adds to it
 * @param found what the search of the query comes down to
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

/** The newest Tasks of each way in which a search may mean one; each is found by an index. */
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

/** Which agents are meant (`TaskFilter.agent`), as a condition; what it says of them becomes one more of the values. */
export function agentCondition(agent: string, values: unknown[]): string {
  const isPattern = agent.endsWith('/*');
  const it = `$${values.push(isPattern ? agent.slice(0, -1) : agent)}`;
  if (!isPattern) return `agent = ${it}`;
  return `starts_with(agent, ${it}) AND strpos(substr(agent, length(${it}) + 1), '/') = 0`;
}
