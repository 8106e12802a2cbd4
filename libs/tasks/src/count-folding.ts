import type { Database } from '#libs/postgres';
import type { Pool } from 'pg';

/** Milliseconds from a commit until its differences are folded. */
const FOLD_AFTER_MS = 2_000;
const FOLDED_AT_ONCE = 5_000;

/**
 * Folds the differences that journals append to `task_count_rest` into `task_count_folded`. Readers add both, so counts
 * are exact at any time. `foldAll` folds the differences that dead processes have left.
 */
export class CountFolding {
  private readonly pool: Pool;
  private timer: NodeJS.Timeout | undefined;

  constructor(database: Database) {
    this.pool = database.pool;
  }

  /**
   * Schedules the folding of a writer's differences. After a failure they are folded after the next commit, or by
   * `foldAll`.
   */
  scheduleFold(writer: string): void {
    this.timer ??= setTimeout(() => void this.foldNow(writer), FOLD_AFTER_MS).unref();
  }

  /** Folds the differences of a writer; stops when the signal aborts. */
  async foldWriter(writer: string, signal?: AbortSignal): Promise<void> {
    for (let folded = FOLDED_AT_ONCE; folded === FOLDED_AT_ONCE && !signal?.aborted;) {
      const { rows } = await this.pool.query<{ folded: number }>({
        name: 'fold-counts',
        text: FOLD,
        values: [writer, FOLDED_AT_ONCE],
      });
      folded = rows[0]?.folded ?? 0;
    }
  }

  /** Folds the differences of all writers; stops when the signal aborts. */
  async foldAll(signal?: AbortSignal): Promise<void> {
    const { rows } = await this.pool.query<{ writer: string }>(UNFOLDED);
    for (const { writer } of rows) await this.foldWriter(writer, signal);
  }

  private async foldNow(writer: string): Promise<void> {
    await this.foldWriter(writer).catch(() => undefined);
    this.timer = undefined;
  }
}

const SCOPE = 'tenant, owner, agent, state';

// Concurrent folds of one writer share its rows: the one that deletes a row adds it.
const FOLD = `
  WITH picked AS MATERIALIZED (
    SELECT writer, id FROM task_count_rest
    WHERE writer = $1 AND id > coalesce((SELECT folded FROM task_count_mark WHERE writer = $1), 0)
    ORDER BY id LIMIT $2
  ),
  gone AS (
    DELETE FROM task_count_rest AS rest USING picked WHERE rest.writer = picked.writer AND rest.id = picked.id
    RETURNING rest.*
  ),
  summed AS (
    INSERT INTO task_count_folded AS held (${SCOPE}, writer, tasks)
    SELECT ${SCOPE}, $1, sum(tasks) FROM gone GROUP BY ${SCOPE} HAVING sum(tasks) <> 0 ORDER BY ${SCOPE}
    ON CONFLICT (${SCOPE}, writer) DO UPDATE SET tasks = held.tasks + EXCLUDED.tasks
  ),
  marked AS (
    INSERT INTO task_count_mark AS held (writer, folded) SELECT $1, max(id) FROM gone HAVING count(*) > 0
    ON CONFLICT (writer) DO UPDATE SET folded = greatest(held.folded, EXCLUDED.folded)
  )
  SELECT count(*)::int AS folded FROM gone`;

const UNFOLDED = `
  SELECT held.writer FROM task_writer AS held LEFT JOIN task_count_mark AS mark USING (writer)
  WHERE EXISTS (SELECT FROM task_count_rest AS rest WHERE rest.writer = held.writer AND rest.id > coalesce(mark.folded, 0))`;
