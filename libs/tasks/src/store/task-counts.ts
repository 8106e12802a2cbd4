import { Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { Jobs } from '#libs/job-queue';
import { Database } from '#libs/postgres';
import { CountFolding } from '../journal/journal-writes.js';
import { agentCondition, conditionsOf, newestTasks } from './task-queries.js';
import type { TaskFilter, TaskQuery } from './task-store.js';

const MERGED_AT_ONCE = 1000;

/**
 * Exact numbers of Tasks that match a filter.
 * - Filters by tenant, owner, agent and state read the maintained counts, at the same cost for any number of Tasks.
 * - Filters by context, time or Task id count the matching Tasks.
 */
@Injectable()
export class TaskCounts {
  private readonly pool: Pool;
  private readonly folding: CountFolding;

  constructor(private readonly database: Database) {
    this.pool = database.pool;
    this.folding = new CountFolding(database);
  }

  async countTasks(filter: TaskFilter): Promise<number> {
    const { conditions, values } = conditionsOf(filter);
    const isKept = [filter.contextId, filter.taskIds, filter.updatedAfter, filter.updatedBefore].every(
      (it) => it === undefined,
    );
    const from = isKept ? 'coalesce(sum(tasks), 0)::int AS total FROM task_count' : 'count(*)::int AS total FROM task';
    const { rows } = await this.database.reads.queryInTurn<{ total: number }>(filter.scope, {
      text: `SELECT ${from} WHERE ${conditions.join(' AND ')}`,
      values,
    });
    return rows[0]?.total ?? 0;
  }

  /**
   * Counts the newest Tasks of a list, at most `limit`. It reads no more Tasks than a page of that size, whatever the
   * filter selects.
   */
  async countNewest(query: TaskQuery): Promise<number> {
    const { page, values } = newestTasks(query);
    const { rows } = await this.database.reads.queryInTurn<{ total: number }>(query.scope, {
      text: `SELECT count(*)::int AS total FROM (${page}) AS counted`,
      values,
    });
    return rows[0]?.total ?? 0;
  }

  /**
   * Returns the numbers of waiting Tasks of some agents, over all callers. `input` and `auth` count Tasks that wait for
   * input or authentication, `timer` Tasks that only wait for a time.
   * @param agent path of the agent, or `workflows/*` for every agent one level below `workflows`
   */
  async countWaiting(agent: string): Promise<Record<'input' | 'auth' | 'timer', number>> {
    const values: unknown[] = [];
    const condition = agentCondition(agent, values);
    const { rows } = await this.pool.query<Record<'input' | 'auth' | 'timer', number>>({
      text: `
        SELECT coalesce(sum(tasks) FILTER (WHERE state = 'TASK_STATE_INPUT_REQUIRED'), 0)::int AS input,
               coalesce(sum(tasks) FILTER (WHERE state = 'TASK_STATE_AUTH_REQUIRED'), 0)::int AS auth,
               (SELECT count(*)::int FROM task WHERE wake_at IS NOT NULL AND replica_id IS NULL
                  AND state = 'TASK_STATE_WORKING' AND ${condition}) AS timer
        FROM task_count WHERE state IN ('TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED') AND ${condition}`,
      values,
    });
    return rows[0] ?? { input: 0, auth: 0, timer: 0 };
  }

  /**
   * Adds the changes of counts, which journals have appended as rows of their own, to the counts. Stops when the signal
   * aborts.
   */
  foldCounts(signal: AbortSignal): Promise<void> {
    return this.folding.foldAll(signal);
  }

  /**
   * Merges the rows of former writers: for each combination of tenant, owner, agent and state, one row remains. Stops
   * when the signal aborts.
   */
  async mergeCounts(signal: AbortSignal): Promise<void> {
    for (let merged = MERGED_AT_ONCE; merged === MERGED_AT_ONCE && !signal.aborted;) {
      const { rows } = await this.pool.query<{ merged: number }>(MERGE, [MERGED_AT_ONCE]);
      merged = rows[0]?.merged ?? 0;
    }
    if (!signal.aborted) await this.pool.query(FORGET_ZEROS);
    if (!signal.aborted) await this.pool.query(FORGET_MARKS);
  }
}

// The statement never waits for a locked row, so there is no deadlock. A writer that is presumed gone and returns
// creates new rows.
const MERGE = `
  WITH picked AS MATERIALIZED (
    SELECT tenant, owner, agent, state, writer FROM task_count_folded
    WHERE writer <> '' AND writer NOT IN (SELECT writer FROM task_writer)
    LIMIT $1 FOR UPDATE SKIP LOCKED
  ),
  gone AS (
    DELETE FROM task_count_folded AS old USING picked
    WHERE (old.tenant, old.owner, old.agent, old.state, old.writer)
        = (picked.tenant, picked.owner, picked.agent, picked.state, picked.writer)
    RETURNING old.*
  ),
  merged AS (
    INSERT INTO task_count_folded AS held (tenant, owner, agent, state, writer, tasks)
    SELECT tenant, owner, agent, state, '', sum(tasks) FROM gone
    GROUP BY tenant, owner, agent, state ORDER BY tenant, owner, agent, state
    ON CONFLICT (tenant, owner, agent, state, writer) DO UPDATE SET tasks = held.tasks + EXCLUDED.tasks
  )
  SELECT count(*)::int AS merged FROM gone`;

const FORGET_ZEROS = `
  DELETE FROM task_count_folded WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM task_count_folded WHERE writer = '' AND tasks = 0 FOR UPDATE SKIP LOCKED)) AND tasks = 0`;

// A former writer has nothing left to fold; otherwise its row would exist.
const FORGET_MARKS = `
  DELETE FROM task_count_mark AS mark WHERE NOT EXISTS (SELECT FROM task_writer AS held WHERE held.writer = mark.writer)`;

const NAME = 'tasks.fold-counts';
const EVERY_MINUTE = '* * * * *';

/** Job that adds the count differences of dead processes, and of replicas of the previous version, to the sums. */
@Injectable()
export class CountFoldingJob {
  constructor(jobs: Jobs, counts: TaskCounts) {
    const run = (_payload: undefined, { signal }: { signal: AbortSignal }): Promise<void> => counts.foldCounts(signal);
    jobs.registerHandler(NAME, { read: () => undefined, run });
    jobs.scheduleCron({ name: NAME, match: EVERY_MINUTE });
  }
}
