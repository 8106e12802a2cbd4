import type { QueryConfig } from 'pg';
import { HEADER_COLUMNS } from './task-rows.js';
import type { TaskQuery } from './task-store.js';

/** The page of a TaskQuery and the count of all that match it. */
export function listStatement(query: TaskQuery): { page: QueryConfig; count: QueryConfig } {
  const values: unknown[] = [query.scope.tenant, query.scope.owner];
  const conditions = ['tenant = $1', 'owner = $2'];
  const add = (sql: (parameter: string) => string, value: unknown): void => {
    values.push(value);
    conditions.push(sql(`$${values.length}`));
  };
  if (query.agent !== undefined) addAgent(add, query.agent);
  if (query.contextId !== undefined) add((it) => `context_id = ${it}`, query.contextId);
  if (query.state !== undefined) add((it) => `state = ${it}`, query.state);
  if (query.updatedAfter !== undefined) add((it) => `updated_at >= ${it}`, query.updatedAfter);
  const count = {
    text: `SELECT count(*)::int AS total FROM task WHERE ${conditions.join(' AND ')}`,
    values: [...values],
  };
  if (query.before !== undefined) {
    values.push(query.before.updatedAt, query.before.taskId);
    conditions.push(`(updated_at, task_id) < ($${values.length - 1}, $${values.length})`);
  }
  values.push(query.limit);
  const page = {
    text: `SELECT ${HEADER_COLUMNS} FROM task WHERE ${conditions.join(' AND ')}
           ORDER BY updated_at DESC, task_id DESC LIMIT $${values.length}`,
    values,
  };
  return { page, count };
}

function addAgent(add: (sql: (parameter: string) => string, value: unknown) => void, agent: string): void {
  if (!agent.endsWith('/*')) return add((it) => `agent = ${it}`, agent);
  const prefix = agent.slice(0, -1);
  add((it) => `starts_with(agent, ${it}) AND strpos(substr(agent, length(${it}) + 1), '/') = 0`, prefix);
}
