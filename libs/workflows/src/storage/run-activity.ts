import { Injectable } from '@nestjs/common';
import { Database } from '#libs/postgres';
import type { JsonObject, TaskState } from '#libs/protocol';
import { IS_TOP_RUN, type TaskScope } from '#libs/tasks';

/** Maximum number of runs of one workflow that are read for a time range. The newest runs are read. */
const MOST_RUNS_OF_WORKFLOW = 20_000;
/** Maximum number of runs that are read for a range. The runs of workflows with few runs are read first. */
const MOST_RUNS = 100_000;
/** Maximum number of workflows whose runs are read. Those with the most runs are chosen. */
const MOST_WORKFLOWS = 1_000;
/** Maximum number of rows that are read of each kind of waiting work. */
const MOST_WAITING = 1_000;

/** Time range. `until` itself is not part of the range. */
export interface TimeRange {
  since: Date;
  until: Date;
}

/** Number and durations of the runs of one workflow that are in one state and last changed in the time range. */
export interface RunGroup {
  agent: string;
  state: TaskState;
  runs: number;
  /** Median and 95th percentile of the time from the start of a run to its last change, in seconds. */
  seconds: [p50: number, p95: number];
}

/** End of a failed run. */
export interface FailedRunEnd {
  runId: string;
  agent: string;
  endedAt: number;
}

export interface RunActivity {
  groups: RunGroup[];
  /** Newest failed runs. */
  failed: FailedRunEnd[];
  /** True if a limit was reached, so that further runs may be missing. */
  more: boolean;
}

/** Kind of waiting work: a question, a run that is parked until a time, or a run that has not begun. */
export type WaitKind = 'questions' | 'parked' | 'queued';

/** Number and oldest entry of one kind of waiting work. */
export interface WaitingWorkRow {
  kind: WaitKind;
  total: number;
  under_hour: number;
  under_day: number;
  longer: number;
  more: boolean;
  run_id: string | null;
  agent: string | null;
  since: Date | null;
  until: Date | null;
  question: JsonObject | null;
}

interface ActivityRow {
  groups: RunGroup[];
  failed: FailedRunEnd[];
  more: boolean;
}

/**
 * Reads statistics of a caller's runs. The rows of each call are limited, and the calls of different callers take turns
 * (see SharedReads).
 * - Runs of a time range: at most `MOST_RUNS` rows of the index `task_agent_state`.
 * - Waiting work: at most `MOST_WAITING` rows of each kind.
 */
@Injectable()
export class RunActivityReader {
  constructor(private readonly database: Database) {}

  /**
   * Counts the runs that last changed in a range by workflow and state.
   * @param mostFailed maximum number of failed runs to return
   */
  async countRuns(scope: TaskScope, { since, until }: TimeRange, mostFailed: number): Promise<RunActivity> {
    const limits = [MOST_RUNS_OF_WORKFLOW, MOST_RUNS, MOST_WORKFLOWS, mostFailed];
    const values = [scope.tenant, scope.owner, since, until, ...limits];
    const { rows } = await this.database.reads.queryInIndexOrder<ActivityRow>(scope, { text: ACTIVITY, values });
    const [{ groups, failed, more } = { groups: [], failed: [], more: false }] = rows;
    return { groups, failed, more };
  }

  /**
   * Returns the newest failed runs of a range.
   * @param limit maximum number of runs, and of rows that are read of each state
   */
  async listFailed(
    { tenant, owner }: TaskScope,
    { since, until }: Partial<TimeRange>,
    limit: number,
  ): Promise<FailedRunEnd[]> {
    const values = [tenant, owner, since ?? '-infinity', until ?? 'infinity', limit];
    const scope = { tenant, owner };
    const { rows } = await this.database.reads.queryInIndexOrder<FailedRunEnd>(scope, { text: FAILED, values });
    return rows;
  }

  /** Returns the caller's waiting work: for each kind, the number and the oldest entry. */
  async readWaiting({ tenant, owner }: TaskScope): Promise<WaitingWorkRow[]> {
    const values = [tenant, owner, MOST_WAITING];
    const { rows } = await this.database.reads.queryInIndexOrder<WaitingWorkRow>(
      { tenant, owner },
      { text: WAITING, values },
    );
    return rows;
  }
}

/**
 * Selects the runs of a range. $1 tenant, $2 owner, $3 since, $4 until, $5 runs of a workflow, $6 runs, $7 workflows,
 * $8 failed runs. Workflows with few runs come first, so that at the limit only workflows with many runs are
 * incomplete. The limit of the join stops the scan, so no further row is read.
 */
const ACTIVITY = `
  WITH workflow AS MATERIALIZED (
    SELECT agent, sum(tasks) AS tasks FROM task_count
    WHERE tenant = $1 AND owner = $2 AND ${IS_TOP_RUN}
    GROUP BY agent HAVING sum(tasks) > 0 ORDER BY tasks DESC, agent LIMIT $7
  ),
  recent AS MATERIALIZED (
    SELECT run.* FROM (SELECT agent FROM workflow ORDER BY tasks, agent) AS meant
    CROSS JOIN LATERAL (
      SELECT task.task_id, task.agent, task.state, task.created_at, task.updated_at FROM task
      WHERE task.tenant = $1 AND task.owner = $2 AND task.agent = meant.agent
        AND task.updated_at >= $3 AND task.updated_at < $4
      ORDER BY task.updated_at DESC, task.task_id DESC LIMIT $5
    ) AS run
    LIMIT $6
  ),
  counted AS (
    SELECT agent, state, count(*)::int AS runs,
           percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (
             ORDER BY greatest(extract(epoch FROM updated_at - created_at), 0)::float8) AS seconds
    FROM recent GROUP BY agent, state
  ),
  failed AS (
    SELECT task_id AS "runId", agent, (extract(epoch FROM updated_at) * 1000)::float8 AS "endedAt" FROM recent
    WHERE state IN ('TASK_STATE_FAILED', 'TASK_STATE_REJECTED')
    ORDER BY updated_at DESC, task_id DESC LIMIT $8
  )
  SELECT (SELECT coalesce(json_agg(counted), '[]') FROM counted) AS groups,
         (SELECT coalesce(json_agg(failed), '[]') FROM failed) AS failed,
         (SELECT count(*) FROM workflow) >= $7 OR (SELECT coalesce(sum(runs), 0) FROM counted) >= $6
           OR EXISTS (SELECT FROM counted GROUP BY agent HAVING sum(runs) >= $5) AS more`;

/** Selects failed runs. $1 tenant, $2 owner, $3 since, $4 until, $5 runs. They are read by the index `task_run_state`. */
const FAILED = `
  SELECT task_id AS "runId", agent, (extract(epoch FROM updated_at) * 1000)::float8 AS "endedAt"
  FROM unnest(ARRAY['TASK_STATE_FAILED', 'TASK_STATE_REJECTED']) AS wanted (state)
  CROSS JOIN LATERAL (
    SELECT task_id, agent, updated_at FROM task
    WHERE tenant = $1 AND owner = $2 AND ${IS_TOP_RUN} AND state = wanted.state
      AND updated_at >= $3::timestamptz AND updated_at < $4::timestamptz
    ORDER BY updated_at DESC, task_id DESC LIMIT $5
  ) AS ended
  ORDER BY updated_at DESC, task_id DESC LIMIT $5`;

/** Selects waiting work. $1 tenant, $2 owner, $3 rows of a kind. Queued runs are read by the index `task_run_state`. */
const WAITING = `
  WITH questions AS MATERIALIZED (
    SELECT task_id, agent, since, NULL::timestamptz AS until, body, (
             SELECT state FROM task WHERE task.task_id = asked.task_id
           ) IN ('TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED') AS waits
    FROM (
      SELECT task_id, agent, since, body FROM task_question WHERE tenant = $1 AND owner = $2
      ORDER BY since, task_id, key LIMIT $3
    ) AS asked
  ),
  parked AS MATERIALIZED (
    SELECT task_id, agent, since, until, NULL::json AS body, state = 'TASK_STATE_WORKING' AS waits
    FROM (
      SELECT task_id, agent, state, updated_at AS since, wake_at AS until FROM task
      WHERE tenant = $1 AND owner = $2 AND wake_at IS NOT NULL AND replica_id IS NULL
        AND state NOT IN ('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')
      ORDER BY wake_at LIMIT $3
    ) AS kept
  ),
  queued AS MATERIALIZED (
    SELECT task_id, agent, created_at AS since, NULL::timestamptz AS until, NULL::json AS body, true AS waits FROM task
    WHERE tenant = $1 AND owner = $2 AND state = 'TASK_STATE_SUBMITTED' AND ${IS_TOP_RUN}
    ORDER BY updated_at, task_id LIMIT $3
  ),
  listed AS (
    SELECT 'questions' AS kind, * FROM questions UNION ALL SELECT 'parked', * FROM parked
    UNION ALL SELECT 'queued', * FROM queued
  ),
  waiting AS MATERIALIZED (SELECT *, now() - since AS age FROM listed WHERE waits AND ${IS_TOP_RUN})
  SELECT wanted.kind, coalesce(total, 0) AS total, coalesce(under_hour, 0) AS under_hour, coalesce(under_day, 0) AS under_day,
         coalesce(longer, 0) AS longer, read_rows >= $3 AS more,
         oldest.task_id AS run_id, oldest.agent, oldest.since, oldest.until, oldest.body AS question
  FROM (
    VALUES ('questions', (SELECT count(*) FROM questions)), ('parked', (SELECT count(*) FROM parked)),
           ('queued', (SELECT count(*) FROM queued))
  ) AS wanted (kind, read_rows)
  LEFT JOIN (
    SELECT kind, count(*)::int AS total, count(*) FILTER (WHERE age < interval '1 hour')::int AS under_hour,
           count(*) FILTER (WHERE age >= interval '1 hour' AND age < interval '1 day')::int AS under_day,
           count(*) FILTER (WHERE age >= interval '1 day')::int AS longer
    FROM waiting GROUP BY kind
  ) AS ages ON ages.kind = wanted.kind
  LEFT JOIN LATERAL (
    SELECT * FROM waiting WHERE waiting.kind = wanted.kind ORDER BY since, task_id LIMIT 1
  ) AS oldest ON true`;
