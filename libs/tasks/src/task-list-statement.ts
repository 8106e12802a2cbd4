import type { QueryConfig } from 'pg';
import type { TaskFilter, TaskQuery } from './task-store.js';

/** A filter as conditions on `task`; those on tenant, owner, agent and state hold for `task_count` as well. */
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
  if (filter.contextId !== undefined) add((it) => `context_id = ${it}`, filter.contextId);
  if (filter.state !== undefined) add((it) => `state = ${it}`, filter.state);
  if (filter.updatedAfter !== undefined) add((it) => `updated_at >= ${it}`, filter.updatedAfter);
  if (filter.search !== undefined) {
    const name = `lower(substr(agent, strpos(agent, '/') + 1))`;
    add((it) => `(strpos(${name}, ${it}) > 0 OR starts_with(task_id, ${it}))`, filter.search.toLowerCase());
  }
  return { conditions, values };
}

/** The rows of a page. @param columns of `task`, and of what `from` adds to it */
export function pageStatement(query: TaskQuery, columns: string, from: string): QueryConfig {
  const { conditions, values } = conditionsOf(query);
  if (query.before !== undefined) {
    values.push(query.before.updatedAt, query.before.taskId);
    conditions.push(`(updated_at, task_id) < ($${values.length - 1}, $${values.length})`);
  }
  values.push(query.limit);
  const page = `SELECT * FROM task WHERE ${conditions.join(' AND ')}
                ORDER BY updated_at DESC, task_id DESC LIMIT $${values.length}`;
  return { text: `SELECT ${columns} FROM (${page}) AS task ${from} ORDER BY updated_at DESC, task_id DESC`, values };
}

/** Which agents are meant (`TaskFilter.agent`), as a condition; what it says of them becomes one more of the values. */
export function agentCondition(agent: string, values: unknown[]): string {
  const isPattern = agent.endsWith('/*');
  const it = `$${values.push(isPattern ? agent.slice(0, -1) : agent)}`;
  if (!isPattern) return `agent = ${it}`;
  return `starts_with(agent, ${it}) AND strpos(substr(agent, length(${it}) + 1), '/') = 0`;
}
