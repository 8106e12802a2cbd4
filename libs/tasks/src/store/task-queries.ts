import type { Pool, QueryConfig } from 'pg';
import type { SharedReads } from '#libs/postgres';
import { LONG_LOG } from '../fold/task-fold.js';
import { LOG_TEXT, OF_ARTIFACTS } from '../journal/log-row.js';
import { ENDED, HEADER_COLUMNS, type HeaderRow, toHeader } from './task-rows.js';
import type { RevisionPrecondition, TaskFilter, TaskHeader, TaskQuery, TaskScope } from './task-store.js';

/** Maximum bytes of a short log, which is read with its Task's row. */
const FEW_BYTES = 64 * 1024;
/**
 * Maximum size, as a multiple of FEW_BYTES, of the rows that a read without Artifacts loads together with the Task.
 * Such a read skips rows with only Artifact updates, but other rows may contain some as well. If the rows are larger
 * than this, the log is read page by page instead.
 */
const MOST_BESIDE = 4;

/** Task to read by id, with the precondition of the read. */
export interface WantedTask {
  taskId: string;
  scope: TaskScope | undefined;
  /** Precondition that must hold at the time of the read; `undefined` if the read has none. */
  premise: RevisionPrecondition | undefined;
}

export const STORED_COLUMNS = `${HEADER_COLUMNS}, size.log_bytes, size.artifact_bytes, log.events,
  task.log_bytes IS NULL AS measured, snapshot.folded, snapshot.artifacts`;

/**
 * Returns SQL joins that measure unknown sizes of logs, and read a short log (at most `fewBytes`) or its snapshot.
 * `artifacts` is false to read no Artifacts.
 */
export function withLog(fewBytes: number, artifacts: boolean): string {
  const unlessMuchBeside = `CASE WHEN sum(octet_length(events)) > ${MOST_BESIDE * fewBytes} THEN NULL ELSE ${LOG_TEXT} END`;
  const isSmall = `size.log_bytes ${artifacts ? '' : '- size.artifact_bytes'} <= ${fewBytes}`;
  return `
    CROSS JOIN LATERAL (
      SELECT coalesce(task.log_bytes, task_log_bytes(task.task_id)) AS log_bytes,
             coalesce(task.artifact_bytes, task_log_bytes(task.task_id, true)) AS artifact_bytes
      OFFSET 0
    ) AS size
    CROSS JOIN LATERAL (
      SELECT ${artifacts ? LOG_TEXT : unlessMuchBeside} AS events
      FROM task_log
      WHERE task.last_sequence <= ${LONG_LOG} AND ${isSmall}
        AND task_log.task_id = task.task_id AND sequence <= task.last_sequence
        ${artifacts ? '' : `AND NOT ${OF_ARTIFACTS}`}
    ) AS log
    LEFT JOIN LATERAL (
      SELECT kept.task::text AS folded, ${artifacts ? 'kept.artifacts::text' : 'NULL'} AS artifacts
      FROM task_snapshot AS kept
      WHERE task.last_sequence > ${LONG_LOG} AND ${isSmall}
        AND kept.task_id = task.task_id AND kept.sequence = task.last_sequence
    ) AS snapshot ON true`;
}

/**
 * Returns the statement that reads the rows of Tasks by id, with `place` (index from 1 in `wanted`) if there are
 * several. A single Task, the usual case under light load, has a statement without arrays, which is cheaper to plan.
 */
export function wantedStatement(wanted: readonly WantedTask[]): QueryConfig {
  const [only, another] = wanted;
  return only && !another ? statementOfOne(only) : statementOfMany(wanted);
}

function statementOfOne({ taskId, scope, premise }: WantedTask): QueryConfig {
  const values = [taskId, scope?.tenant ?? null, scope?.owner ?? null];
  if (!premise) return { name: 'task-stored', text: ONE, values };
  values.push(premise.tenant, premise.name, premise.version);
  return { name: 'task-stored-on', text: ONE_ON, values };
}

function statementOfMany(wanted: readonly WantedTask[]): QueryConfig {
  const tasks = [
    wanted.map(({ taskId }) => taskId),
    wanted.map(({ scope }) => scope?.tenant ?? null),
    wanted.map(({ scope }) => scope?.owner ?? null),
  ];
  const premises = [...new Set(wanted.flatMap(({ premise }) => premise ?? []))];
  if (premises.length === 0) return { name: 'tasks-stored', text: MANY, values: tasks };
  const values = [
    ...tasks,
    wanted.map(({ premise }) => (premise ? premises.indexOf(premise) + 1 : null)),
    premises.map(({ tenant }) => tenant),
    premises.map(({ name }) => name),
    premises.map(({ version }) => version),
  ];
  return { name: 'tasks-stored-on', text: MANY_ON, values };
}

const ONE = `
  SELECT ${STORED_COLUMNS} FROM task ${withLog(FEW_BYTES, true)}
  WHERE task.task_id = $1 AND ($2::text IS NULL OR (task.tenant = $2 AND task.owner = $3))`;

const premiseCondition = (tenant: string, name: string, version: string): string => `EXISTS (
  SELECT FROM workflow_newest AS newest
  WHERE newest.tenant = ${tenant} AND newest.name = ${name} AND newest.version = ${version} OFFSET 0)`;

const ONE_ON = `${ONE} AND ${premiseCondition('$4', '$5', '$6')}`;

const MANY = `
  SELECT ${STORED_COLUMNS}, wanted.place::int
  FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS wanted (task_id, tenant, owner, place)
  JOIN task ON task.task_id = wanted.task_id
    AND (wanted.tenant IS NULL OR (task.tenant = wanted.tenant AND task.owner = wanted.owner))
  ${withLog(FEW_BYTES, true)}`;

// Each premise is looked up once, by its key. OFFSET 0 keeps the planner from using a join.
const MANY_ON = `${MANY}
  WHERE ($4::int[])[wanted.place] IS NULL OR ($4::int[])[wanted.place] = ANY (ARRAY(
    SELECT premise.position::int
    FROM unnest($5::text[], $6::text[], $7::text[]) WITH ORDINALITY AS premise (tenant, name, version, position)
    WHERE ${premiseCondition('premise.tenant', 'premise.name', 'premise.version')}))`;

/**
 * Maximum number of agents of a search whose Tasks are looked up agent by agent. For more agents, Tasks of all agents
 * are scanned in order.
 */
const MOST_LOOKED_UP = 50;
/**
 * Last character of Unicode. A prefix with this suffix is an upper bound of all texts with that prefix, compared as
 * bytes.
 */
const LAST = '\u{10ffff}';

/** Result of a search text: agents whose Tasks match, and the prefix of Task ids that match. */
interface FoundAgents {
  agents: readonly string[];
  idPrefix: string;
}

/**
 * Returns SQL conditions on the table `task` for all members of a filter except `search`, and the values of their
 * parameters. Conditions on tenant, owner, agent and state may also be used for `task_count`.
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
  if (filter.states !== undefined) add((it) => `state = ANY(${it}::text[])`, filter.states);
  if (filter.updatedAfter !== undefined) add((it) => `updated_at >= ${it}`, filter.updatedAfter);
  if (filter.updatedBefore !== undefined) add((it) => `updated_at < ${it}`, filter.updatedBefore);
  return { conditions, values };
}

/**
 * Returns the statement for the rows of a page of Tasks.
 * @param columns columns of `task`, and of the relations in `from`
 * @param found agents and id prefix that the query's `search` stands for
 */
export function pageStatement(query: TaskQuery, columns: string, from: string, found?: FoundAgents): QueryConfig {
  const { page, values } = newestTasks(query, found);
  return { text: `SELECT ${columns} FROM (${page}) AS task ${from} ORDER BY updated_at DESC, task_id DESC`, values };
}

/** Returns the SQL query for the rows of `task` that are on a page, newest first, and the values of its parameters. */
export function newestTasks(query: TaskQuery, found?: FoundAgents): { page: string; values: unknown[] } {
  const isByState = !found && isReadByState(query);
  const left = isByState ? { states: undefined } : found ? { agent: undefined } : {};
  const { conditions, values } = conditionsOf({ ...query, ...left });
  if (query.before !== undefined) {
    values.push(query.before.updatedAt, query.before.taskId);
    conditions.push(`(updated_at, task_id) < ($${values.length - 1}, $${values.length})`);
  }
  const limit = `$${values.push(query.limit)}`;
  const newest = (...more: string[]): string => `
    SELECT * FROM task WHERE ${[...conditions, ...more].join(' AND ')} ORDER BY updated_at DESC, task_id DESC LIMIT ${limit}`;
  const byState = (): string => `
    SELECT of_state.* FROM unnest($${values.push(query.states)}::text[]) AS wanted (state),
      LATERAL (${newest('state = wanted.state')}) AS of_state`;
  const rows = found ? foundPage(found, query.agent, newest, values) : isByState ? byState() : newest();
  return {
    page: `SELECT * FROM (${rows}) AS task ORDER BY updated_at DESC, task_id DESC LIMIT ${limit}`,
    values,
  };
}

/**
 * True if the page is read by the index `task_run_state`, state by state. The index has the runs of each state in
 * order, so a rare state is found without reading the runs of other states.
 */
function isReadByState({ agent, states, taskIds }: TaskQuery): boolean {
  return agent === 'workflows/*' && states !== undefined && taskIds === undefined;
}

/**
 * Returns a SQL query for the newest Tasks that match a search, by agent or by id. Both kinds of matches are found by
 * an index. The found agents already match the filter's `agent`: PostgreSQL takes such a condition for rare, and would
 * read and sort all Tasks of an agent.
 */
function foundPage(
  { agents, idPrefix }: FoundAgents,
  agent: string | undefined,
  newest: (...more: string[]) => string,
  values: unknown[],
): string {
  const [first, last] = [values.push(idPrefix), values.push(`${idPrefix}${LAST}`)];
  const ofAgent = agent === undefined ? [] : [agentCondition(agent, values)];
  const byId = newest(...ofAgent, `task_id >= $${first}`, `task_id < $${last}`);
  if (agents.length === 0) return byId;
  const all = `$${values.push(agents)}::text[]`;
  const byAgent =
    agents.length > MOST_LOOKED_UP
      ? newest(`agent = ANY(${all})`)
      : `SELECT of_agent.* FROM unnest(${all}) AS meant (agent), LATERAL (${newest('agent = meant.agent')}) AS of_agent`;
  return `(${byAgent}) UNION (${byId})`;
}

/** SQL condition that is true if the row `task` has ended. */
export const ENDED_TASK = `task.state IN ('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')`;

/** SQL expression for the outcome of the row `task`; NULL while it has not ended. */
export const TASK_OUTCOME = `CASE task.state WHEN 'TASK_STATE_COMPLETED' THEN 'completed' WHEN 'TASK_STATE_CANCELED' THEN 'canceled'
    WHEN 'TASK_STATE_FAILED' THEN 'failed' WHEN 'TASK_STATE_REJECTED' THEN 'failed' END`;

/** SQL condition that is true for top-level runs: Tasks of agents one level below `workflows`. */
export const IS_TOP_RUN = `starts_with(agent, 'workflows/') AND strpos(substr(agent, 11), '/') = 0`;

/** Returns the SQL condition for `TaskFilter.agent`, and adds its value to `values`. */
export function agentCondition(agent: string, values: unknown[]): string {
  // Written as a literal: the planner uses the partial index of runs only if it sees their path.
  if (agent === 'workflows/*') return IS_TOP_RUN;
  const isPattern = agent.endsWith('/*');
  const it = `$${values.push(isPattern ? agent.slice(0, -1) : agent)}`;
  if (!isPattern) return `agent = ${it}`;
  return `starts_with(agent, ${it}) AND strpos(substr(agent, length(${it}) + 1), '/') = 0`;
}

/**
 * Finds the agents that match the search of a filter, among those with Tasks of the caller; `undefined` without a
 * search. Reads the counts of Tasks, so its cost depends on the number of agents, not of Tasks.
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

/**
 * Returns the headers of the Tasks that completed before a given Task began (see `TaskStore.completedBefore`). The
 * database stamps each commit, so the clocks of replicas do not matter. The status time only limits which Tasks are
 * compared.
 */
export async function completedBefore(pool: Pool, taskId: string, limit: number): Promise<TaskHeader[]> {
  const { rows } = await pool.query<HeaderRow>({
    name: 'tasks-completed-before',
    text: COMPLETED_BEFORE,
    values: [taskId, limit],
  });
  return rows.map(toHeader);
}

const COMPLETED_BEFORE = `
  SELECT ${HEADER_COLUMNS}, task.log_bytes, task.artifact_bytes
  FROM task AS own
  CROSS JOIN LATERAL (
    SELECT recorded_at FROM task_log WHERE task_id = own.task_id ORDER BY sequence LIMIT 1) AS begun
  CROSS JOIN LATERAL (
    SELECT * FROM task AS other
    WHERE other.tenant = own.tenant AND other.owner = own.owner AND other.agent = own.agent
      AND other.context_id = own.context_id AND other.state = 'TASK_STATE_COMPLETED'
    ORDER BY other.updated_at DESC, other.task_id DESC LIMIT $2) AS task
  CROSS JOIN LATERAL (
    SELECT recorded_at FROM task_log WHERE task_id = task.task_id ORDER BY sequence DESC LIMIT 1) AS ended
  WHERE own.task_id = $1 AND task.task_id <> own.task_id AND ended.recorded_at < begun.recorded_at
  ORDER BY ended.recorded_at DESC, task.task_id DESC`;

/**
 * Maximum number of callers among whom one poll looks for one overdue Task each, if more Tasks are overdue than the
 * poll may return.
 */
const CALLERS_AT_ONCE = 64;

interface OverdueCaller {
  tenant: string;
  owner: string;
}

/**
 * Finds overdue parked Tasks (Tasks whose time to resume has passed). If more are overdue than a poll may return, up to
 * half of its result is one Task of each of the next callers, so that the many Tasks of one caller do not hide the
 * Tasks of others. Each poll continues with the callers after the last one.
 */
export class OverdueTasks {
  /** Last caller of the previous poll in turn; `undefined` if the next poll begins with the first caller. */
  private last: OverdueCaller | undefined;

  constructor(private readonly sessions: Pool) {}

  /**
   * Returns the ids of overdue Tasks, as `TaskStore.findOverdue` describes.
   * @param byMs milliseconds that the Tasks have been due
   * @param except ids of Tasks to omit
   * @returns at most `limit` ids
   */
  async findOverdue(byMs: number, limit: number, except: readonly string[]): Promise<string[]> {
    const { rows } = await this.sessions.query<{ task_id: string }>({
      name: 'tasks-overdue',
      text: OLDEST,
      values: [byMs, limit, except],
    });
    const oldest = rows.map((row) => row.task_id);
    if (oldest.length < limit) return oldest;
    const inTurn = await this.findInTurn(byMs, Math.floor(limit / 2), except);
    return [...new Set([...inTurn, ...oldest])].slice(0, limit);
  }

  private async findInTurn(byMs: number, limit: number, except: readonly string[]): Promise<string[]> {
    const { last } = this;
    const { rows } = await this.sessions.query<OverdueCaller & { task_id: string | null }>({
      name: last ? 'tasks-overdue-after' : 'tasks-overdue-first',
      text: inTurnStatement(last ? '(tenant, owner) > ($4, $5)' : 'true'),
      values: [byMs, CALLERS_AT_ONCE, except, ...(last ? [last.tenant, last.owner] : [])],
    });
    const late = rows.filter(({ task_id: taskId }) => taskId !== null).slice(0, limit);
    const hasMore = rows.length === CALLERS_AT_ONCE || late.length === limit;
    this.last = hasMore ? (late.length === limit ? late : rows).at(-1) : undefined;
    return late.map((row) => row.task_id!);
  }
}

const IS_PARKED = `wake_at IS NOT NULL AND replica_id IS NULL AND state NOT IN ${ENDED}`;
const IS_LATE = `${IS_PARKED} AND wake_at <= now() - $1 * interval '1 millisecond'
      AND task_id NOT IN (SELECT unnest($3::text[]))`;

const OLDEST = `SELECT task_id FROM task WHERE ${IS_LATE} ORDER BY wake_at LIMIT $2`;

/**
 * Returns a query for one overdue Task of each of the next callers. It finds each caller by one lookup in an index,
 * however many waiting Tasks the caller has.
 * @param from SQL condition that the first caller must meet
 */
const inTurnStatement = (from: string): string => `
  WITH RECURSIVE caller AS (
    (SELECT tenant, owner FROM task WHERE ${IS_PARKED} AND ${from} ORDER BY tenant, owner LIMIT 1)
    UNION ALL
    SELECT later.tenant, later.owner FROM caller, LATERAL (
      SELECT tenant, owner FROM task
      WHERE ${IS_PARKED} AND (task.tenant, task.owner) > (caller.tenant, caller.owner)
      ORDER BY tenant, owner LIMIT 1) AS later
  )
  SELECT next.tenant, next.owner, late.task_id FROM (SELECT tenant, owner FROM caller LIMIT $2) AS next
  LEFT JOIN LATERAL (
    SELECT task_id FROM task WHERE task.tenant = next.tenant AND task.owner = next.owner AND ${IS_LATE}
    ORDER BY wake_at LIMIT 1) AS late ON true
  ORDER BY next.tenant, next.owner`;
