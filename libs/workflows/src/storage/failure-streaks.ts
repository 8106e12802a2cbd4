import { Injectable } from '@nestjs/common';
import { Database } from '#libs/postgres';
import type { TaskScope } from '#libs/tasks';

/** Maximum number of runs of a workflow that are searched for consecutive failures, beginning with the newest. */
const MOST_SEARCHED = 1_000;

/** End of a run. */
export interface RunEnd {
  runId: string;
  endedAt: Date;
}

/** Consecutive failed runs of a workflow since its last completed run. */
export interface FailureStreak {
  /** Number of consecutive failed runs. */
  failures: number;
  /** First failed run; absent without failures. */
  first?: RunEnd;
  /** Last completed run; absent if there is none among those searched. */
  completed?: RunEnd;
  /**
   * True if `MOST_SEARCHED` runs were searched without finding a completed run, so that older runs may have failed,
   * too.
   */
  more: boolean;
}

interface StreakRow {
  failures: number;
  first_id: string | null;
  first_at: Date | null;
  completed_id: string | null;
  completed_at: Date | null;
  more: boolean;
}

/**
 * Finds the consecutive failed runs of a workflow since its last completed run. It reads at most `MOST_SEARCHED` rows
 * of the index `task_agent_state`, however many runs there are.
 */
@Injectable()
export class FailureStreaks {
  constructor(private readonly database: Database) {}

  /**
   * Returns the failed runs of a workflow since its last completed run.
   * @param since creation time of the workflow; earlier runs belong to a deleted workflow of the same name
   */
  async findStreak(scope: TaskScope, workflow: string, since: Date): Promise<FailureStreak> {
    const values = [scope.tenant, scope.owner, `workflows/${workflow}`, since, MOST_SEARCHED];
    const { rows } = await this.database.pool.query<StreakRow>({ name: 'failure-streak', text: STREAK, values });
    const [row] = rows;
    if (!row) return { failures: 0, more: false };
    const { failures, more } = row;
    const first = runEnd(row.first_id, row.first_at);
    const completed = runEnd(row.completed_id, row.completed_at);
    return { failures, ...(first && { first }), ...(completed && { completed }), more: more && !completed };
  }
}

function runEnd(runId: string | null, endedAt: Date | null): RunEnd | undefined {
  return runId === null || endedAt === null ? undefined : { runId, endedAt };
}

/**
 * Selects the failed runs of a workflow since its last completed run. $1 tenant, $2 owner, $3 agent, $4 creation of the
 * workflow, $5 limit.
 */
const STREAK = `
  WITH recent AS MATERIALIZED (
    SELECT task_id, state, created_at, updated_at FROM task
    WHERE tenant = $1 AND owner = $2 AND agent = $3 AND updated_at >= $4
    ORDER BY updated_at DESC, task_id DESC LIMIT $5
  ),
  completed AS (
    SELECT task_id, updated_at FROM recent WHERE state = 'TASK_STATE_COMPLETED' AND created_at >= $4
    ORDER BY updated_at DESC, task_id DESC LIMIT 1
  ),
  failed AS (
    SELECT task_id, updated_at FROM recent
    WHERE state IN ('TASK_STATE_FAILED', 'TASK_STATE_REJECTED') AND created_at >= $4
      AND NOT EXISTS (
        SELECT FROM completed
        WHERE (completed.updated_at, completed.task_id) > (recent.updated_at, recent.task_id))
  ),
  first AS (SELECT task_id, updated_at FROM failed ORDER BY updated_at, task_id LIMIT 1)
  SELECT (SELECT count(*) FROM failed)::integer AS failures,
         (SELECT task_id FROM first) AS first_id, (SELECT updated_at FROM first) AS first_at,
         (SELECT task_id FROM completed) AS completed_id, (SELECT updated_at FROM completed) AS completed_at,
         (SELECT count(*) FROM recent) >= $5 AS more`;
