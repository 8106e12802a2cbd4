import { Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { Jobs, scheduleUpkeep } from '#libs/job-queue';
import { Database } from '#libs/postgres';
import { withoutTrailing } from '#libs/protocol';
import { TaskRetention } from '../retention/task-retention.js';
import type { TaskScope } from './task-store.js';

/** Sums over calls of models: their number, tokens and cost. */
export interface UsageSums {
  calls: number;
  /** Number of calls whose tokens are unknown, since the provider did not report them. */
  unreportedCalls: number;
  /** Number of calls whose cost is unknown, since the model had no price or the tokens are unknown. */
  unpricedCalls: number;
  /** Number of tokens of the calls that report them; absent if no call does. */
  inputTokens?: number;
  outputTokens?: number;
  /** Part of `inputTokens` that providers read from their caches. */
  cachedInputTokens?: number;
  /** Part of `inputTokens` that providers wrote to their caches. */
  cacheWriteInputTokens?: number;
  /** Part of `outputTokens` that models used for reasoning. */
  reasoningTokens?: number;
  /** Cost in US dollars of the calls whose cost is known, as a decimal number; absent if no call has one. */
  cost?: string;
}

/** Property of calls that groups their sums. */
export type UsageGrouping = 'workflow' | 'caller' | 'model' | 'day';

/** Group of calls with its sums. */
interface UsageGroup extends UsageSums {
  /** Name of the workflow, caller or model, or day (`2026-01-31`), that all calls of the group have in common. */
  key: string;
}

/** Selection of calls for `TaskUsage.sumDays`: a tenant or one caller, and days. */
export interface UsageQuery {
  tenant: string;
  owner: string;
  /** True for all callers of the tenant; false for `owner` alone. */
  isWholeTenant: boolean;
  /** First and last day, in UTC, as `2026-01-31`. */
  since: string;
  until: string;
  groupBy: UsageGrouping;
  /** Maximum number of groups. The groups with the most tokens are returned; grouped by day, the newest days. */
  limit: number;
}

/** Sums of the calls of some days: of all calls, and of each group. */
export interface UsageTotals {
  total: UsageSums;
  groups: UsageGroup[];
}

/** Task of a tree with the sums of its model calls and of those of all Tasks below it. */
export interface SpentTask {
  taskId: string;
  /** Absent for the root of the tree. */
  parentTaskId?: string;
  agent: string;
  /** Reference of the call in the Task above, such as `writer#1`; absent for the root of the tree. */
  parentReference?: string;
  sums: UsageSums;
}

/** Sums of the model calls of one Task and of all Tasks below it. */
export interface TaskUsageSums {
  /** Sums of the calls that nodes of the given workflow itself made. */
  own: UsageSums;
  total: UsageSums;
  /** Sums for each model, the model with the most tokens first. */
  models: UsageGroup[];
}

/** Number of days that sums are kept. */
const USAGE_DAYS = 800;

/**
 * Sums of the calls of models that the logs of Tasks report (see `modelCallsIn`). The journal adds a call to the sums
 * in the commit of the event that reports it. So the sums are exact at any time, and neither a kill nor a repeated
 * execution counts a call twice.
 * - The sums of a day do not change when Tasks are deleted.
 * - The sums of a Task include all Tasks below it, each call once.
 */
@Injectable()
export class TaskUsage {
  private readonly pool: Pool;

  constructor(
    private readonly database: Database,
    retention: TaskRetention,
  ) {
    this.pool = database.pool;
    retention.purgeWith('DELETE FROM task_usage WHERE task_id = ANY($1::text[])');
  }

  /**
   * Returns the sums of the calls of some days: of all calls, and of each group. Groups beyond the limit are omitted.
   */
  async sumDays({ tenant, owner, isWholeTenant, since, until, groupBy, limit }: UsageQuery): Promise<UsageTotals> {
    const column = COLUMNS[groupBy];
    const { rows } = await this.database.reads.queryInTurn<GroupRow>(
      { tenant, owner },
      {
        text: `
          SELECT ${column} AS key, ${SUMS} FROM usage_day
          WHERE tenant = $1 AND ${isWholeTenant ? '$2::text IS NOT NULL' : 'owner = $2'}
            AND day BETWEEN $3::date AND $4::date
          GROUP BY GROUPING SETS ((${column}), ())
          ORDER BY grouping(${column}) DESC, ${groupBy === 'day' ? 'key DESC' : MOST_TOKENS} LIMIT $5`,
        values: [tenant, owner, since, until, limit + 1],
      },
    );
    const [total = NO_CALLS, ...groups] = rows;
    return { total: toSums(total), groups: groups.map(toGroup) };
  }

  /**
   * Returns the sums of the model calls of Tasks and of all Tasks below them, by Task id. Tasks without calls are
   * omitted.
   * @param tasks ids of the Tasks, each with the name of its workflow; calls of that workflow count as the Task's own
   */
  async readTasks(
    scope: TaskScope,
    tasks: readonly { taskId: string; workflow: string }[],
  ): Promise<Map<string, TaskUsageSums>> {
    if (tasks.length === 0) return new Map();
    const { rows } = await this.database.reads.queryInTurn<TaskRow>(scope, {
      text: BY_TASK,
      values: [tasks.map(({ taskId }) => taskId), tasks.map(({ workflow }) => workflow)],
    });
    const found = Map.groupBy(rows, ({ task_id: taskId }) => taskId);
    return new Map(Array.from(found, ([taskId, of]) => [taskId, toTaskSums(of)]));
  }

  /**
   * Returns a Task and the Tasks below it that have called models, each level after the level above it.
   * @param limit maximum number of Tasks
   */
  async readTree(taskId: string, scope: TaskScope, limit: number): Promise<SpentTask[]> {
    const { rows } = await this.database.reads.queryInTurn<TreeRow>(scope, {
      text: TREE,
      values: [taskId, scope.tenant, scope.owner, limit],
    });
    return rows.map(({ task_id: id, parent, agent, reference, ...sums }) => ({
      taskId: id,
      ...(parent !== null && { parentTaskId: parent }),
      agent,
      ...(parent !== null && reference !== null && { parentReference: reference }),
      sums: toSums(sums),
    }));
  }

  /** Merges the sums of former writers: one row per group remains. Deletes the sums of days that are no longer kept. */
  async mergeDays(signal: AbortSignal): Promise<void> {
    await this.pool.query("DELETE FROM usage_day WHERE day < (now() AT TIME ZONE 'UTC')::date - $1::int", [USAGE_DAYS]);
    for (let merged = MERGED_AT_ONCE; merged === MERGED_AT_ONCE && !signal.aborted;) {
      const { rows } = await this.pool.query<{ merged: number }>(MERGE, [MERGED_AT_ONCE]);
      merged = rows[0]?.merged ?? 0;
    }
  }
}

const COLUMNS: Record<UsageGrouping, string> = {
  workflow: 'workflow',
  caller: 'owner',
  model: 'model',
  day: `to_char(day, 'YYYY-MM-DD')`,
};

const NAMES = [
  'calls',
  'reported',
  'priced',
  'input_tokens',
  'output_tokens',
  'cached_tokens',
  'reasoning_tokens',
  'cache_write_tokens',
];
const SUMS = [
  ...NAMES.map((name) => `coalesce(sum(${name}), 0)::float8 AS ${name}`),
  'coalesce(trim_scale(sum(cost)), 0)::text AS cost',
].join(', ');
const MOST_TOKENS = 'sum(input_tokens + output_tokens) DESC, key';

// The ids of one page of a list: each is a range of the primary key.
const BY_TASK = `
  SELECT used.task_id, wanted.workflow = used.workflow AS own, used.model AS key, ${SUMS}
  FROM unnest($1::text[], $2::text[]) AS wanted (task_id, workflow) JOIN task_usage AS used USING (task_id)
  GROUP BY used.task_id, own, used.model
  ORDER BY used.task_id, ${MOST_TOKENS}`;

// The inner LIMIT ends the recursion: a level is read only while there is room for its Tasks. A Task without sums has
// none below it either.
const TREE = `
  WITH RECURSIVE tree (task_id, parent, agent, reference, depth) AS (
    SELECT task_id, NULL::text COLLATE "C", agent, parent_reference, 0 FROM task
    WHERE task_id = $1 AND tenant = $2 AND owner = $3 AND EXISTS (SELECT FROM task_usage WHERE task_usage.task_id = $1)
    UNION ALL
    SELECT child.task_id, child.parent_task_id, child.agent, child.parent_reference, tree.depth + 1
    FROM tree JOIN task AS child ON child.parent_task_id = tree.task_id
    WHERE child.tenant = $2 AND child.owner = $3
      AND EXISTS (SELECT FROM task_usage WHERE task_usage.task_id = child.task_id)
  )
  SELECT found.task_id, parent, agent, reference, ${SUMS}
  FROM (SELECT * FROM tree LIMIT $4) AS found JOIN task_usage AS used ON used.task_id = found.task_id
  GROUP BY found.task_id, parent, agent, reference, depth
  ORDER BY depth, found.task_id`;

interface SumsRow {
  calls: number;
  reported: number;
  priced: number;
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  reasoning_tokens: number;
  cache_write_tokens: number;
  cost: string;
}

const NO_CALLS: SumsRow = {
  calls: 0,
  reported: 0,
  priced: 0,
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  reasoning_tokens: 0,
  cache_write_tokens: 0,
  cost: '0',
};

interface GroupRow extends SumsRow {
  key: string;
}

interface TreeRow extends SumsRow {
  task_id: string;
  parent: string | null;
  agent: string;
  reference: string | null;
}

interface TaskRow extends GroupRow {
  task_id: string;
  own: boolean;
}

function toSums(row: SumsRow): UsageSums {
  return {
    calls: row.calls,
    unreportedCalls: row.calls - row.reported,
    unpricedCalls: row.calls - row.priced,
    ...(row.reported > 0 && { inputTokens: row.input_tokens, outputTokens: row.output_tokens }),
    ...(row.cached_tokens > 0 && { cachedInputTokens: row.cached_tokens }),
    ...(row.cache_write_tokens > 0 && { cacheWriteInputTokens: row.cache_write_tokens }),
    ...(row.reasoning_tokens > 0 && { reasoningTokens: row.reasoning_tokens }),
    ...(row.priced > 0 && { cost: row.cost }),
  };
}

function toGroup({ key, ...row }: GroupRow): UsageGroup {
  return { key, ...toSums(row) };
}

function toTaskSums(rows: readonly TaskRow[]): TaskUsageSums {
  const models = Map.groupBy(rows, ({ key }) => key);
  return {
    own: toSums(addRows(rows.filter(({ own }) => own))),
    total: toSums(addRows(rows)),
    models: Array.from(models, ([key, of]) => ({ key, ...toSums(addRows(of)) })),
  };
}

function addRows(rows: readonly SumsRow[]): SumsRow {
  const addColumn = (name: Exclude<keyof SumsRow, 'cost'>): number => rows.reduce((total, row) => total + row[name], 0);
  return {
    calls: addColumn('calls'),
    reported: addColumn('reported'),
    priced: addColumn('priced'),
    input_tokens: addColumn('input_tokens'),
    output_tokens: addColumn('output_tokens'),
    cached_tokens: addColumn('cached_tokens'),
    reasoning_tokens: addColumn('reasoning_tokens'),
    cache_write_tokens: addColumn('cache_write_tokens'),
    cost: addDecimals(rows.map(({ cost }) => cost)),
  };
}

/** Number of decimals of a cost. */
const DECIMALS = 12;

/** Returns the exact sum of decimal numbers as text, without trailing zeros. */
function addDecimals(values: readonly string[]): string {
  const total = values.reduce((sum, value) => {
    const [whole = '', decimals = ''] = value.split('.');
    return sum + BigInt(whole + decimals.padEnd(DECIMALS, '0'));
  }, 0n);
  const digits = total.toString().padStart(DECIMALS + 1, '0');
  const decimals = withoutTrailing(digits.slice(-DECIMALS), '0');
  return `${digits.slice(0, -DECIMALS)}${decimals && `.${decimals}`}`;
}

const MERGED_AT_ONCE = 1_000;
const KEY = 'tenant, owner, day, workflow, model';
const ALL = [...NAMES, 'cost'];

// The statement never waits for a locked row. A writer that is presumed gone and returns creates new rows.
const MERGE = `
  WITH picked AS MATERIALIZED (
    SELECT ${KEY}, writer FROM usage_day
    WHERE writer <> '' AND NOT EXISTS (SELECT FROM task_writer WHERE task_writer.writer = usage_day.writer)
    LIMIT $1 FOR UPDATE SKIP LOCKED
  ),
  gone AS (
    DELETE FROM usage_day AS old USING picked
    WHERE (old.tenant, old.owner, old.day, old.workflow, old.model, old.writer)
        = (picked.tenant, picked.owner, picked.day, picked.workflow, picked.model, picked.writer)
    RETURNING old.*
  ),
  merged AS (
    INSERT INTO usage_day AS held (${KEY}, writer, ${ALL.join(', ')})
    SELECT ${KEY}, '', ${ALL.map((name) => `sum(${name})`).join(', ')} FROM gone
    GROUP BY ${KEY} ORDER BY ${KEY}
    ON CONFLICT (${KEY}, writer) DO UPDATE SET ${ALL.map((name) => `${name} = held.${name} + EXCLUDED.${name}`).join(', ')}
  )
  SELECT count(*)::int AS merged FROM gone`;

const MERGE_DAYS = { name: 'tasks.merge-usage', match: '23 * * * *' };

/** Job that merges the sums of usage of former writers. */
@Injectable()
export class UsageMergeJob {
  constructor(jobs: Jobs, usage: TaskUsage) {
    scheduleUpkeep(jobs, MERGE_DAYS, (signal) => usage.mergeDays(signal));
  }
}
