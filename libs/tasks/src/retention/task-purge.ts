import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { Jobs, scheduleUpkeep } from '#libs/job-queue';
import { Database, inTransaction } from '#libs/postgres';
import { AppConfig } from '#libs/service';
import { CommitLog, COMMITS_KEPT_MS } from '../feed/commit-log.js';
import { FoldMemory } from '../fold/fold-memory.js';
import { firstTaskIdOf } from '../fold/task-event.js';
import { TaskCounts } from '../store/task-counts.js';
import { TaskRetention } from './task-retention.js';

/**
 * Number of Tasks examined per transaction. The same transaction deletes the descendants of the Tasks that it deletes.
 */
const BATCH = 500;
/**
 * Maximum number of Tasks deleted per transaction. Remaining descendants are deleted later, as Tasks without a parent.
 */
const MOST_AT_ONCE = 10_000;
/** Maximum milliseconds of the pause after a transaction. */
const LONGEST_REST_MS = 2_000;

const ENDED = `('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')`;

/**
 * Deletes Tasks that ended before a time (retention), with everything that belongs to them, one transaction per batch.
 * - A child Task is deleted after its parent or together with it, never while the run that called it is kept.
 * - A Task that has not ended stays, even without its parent.
 * - A Task that is still needed (`TaskRetention`) stays, with its descendants.
 *
 * Task ids begin with the creation time, so the primary key finds Tasks by age, and inserts maintain no extra index.
 * Ids of another form (those of the pre-1.0 dialect) are scanned completely.
 */
@Injectable()
export class TaskPurge {
  private readonly pool: Pool;

  constructor(
    database: Database,
    private readonly retention: TaskRetention,
    private readonly folds: FoldMemory,
  ) {
    this.pool = database.tunedPool('purge', 1, PURGE_SETTINGS);
  }

  /**
   * Deletes expired idempotency keys and Tasks until none is left or the signal aborts, then runs the functions that
   * `TaskRetention.sweepAfter` has added.
   * @returns the number of deleted Tasks
   */
  async purgeTasks(olderThan: Date, signal: AbortSignal): Promise<number> {
    // Keys are deleted before the Tasks, so that a key never names a deleted Task.
    await this.purgeKeys(olderThan, signal);
    const timed = await this.purgeRange('', firstTaskIdOf(olderThan), olderThan, signal);
    const others = await this.purgeRange(AFTER_TIMED_IDS, AFTER_ALL_IDS, olderThan, signal);
    await this.retention.runSweeps(olderThan, signal);
    return timed + others;
  }

  /**
   * Purges Tasks whose ids are UUIDs without a time, such as the Tasks of conversations. An index contains exactly
   * these Tasks.
   */
  purgeUntimed(olderThan: Date, signal: AbortSignal): Promise<number> {
    return this.purgeRange('', AFTER_TIMED_IDS, olderThan, signal, UNTIMED_IDS);
  }

  private async purgeRange(
    from: string,
    to: string,
    olderThan: Date,
    signal: AbortSignal,
    which = '',
  ): Promise<number> {
    const find = findEnded(which, this.retention.kept);
    let purged = 0;
    for (let after: string | null = from; after !== null && !signal.aborted;) {
      const began = performance.now();
      const { reached, ended } = await this.findEnded(find, after, to, olderThan);
      if (ended) await this.deleteTasks(ended);
      purged += ended?.length ?? 0;
      after = reached;
      await restAfterWork(began, signal);
    }
    return purged;
  }

  private async findEnded(find: string, after: string, to: string, olderThan: Date): Promise<EndedTasks> {
    const { rows } = await this.pool.query<EndedTasks>(find, [after, to, olderThan, BATCH]);
    return rows[0] ?? { reached: null, ended: null };
  }

  private async deleteTasks(taskIds: readonly string[]): Promise<void> {
    await inTransaction({ pool: this.pool }, async (session) => {
      for (const statement of [...this.retention.statements, DELETE_EVENTS, DELETE_TASKS]) {
        await session.query(statement, [taskIds]);
      }
    });
    this.folds.forgetTasks(taskIds);
  }

  /**
   * Deletes idempotency keys older than `olderThan`, the oldest first. A key is skipped if its Task has not ended, or has
   * ended after that time.
   */
  private async purgeKeys(olderThan: Date, signal: AbortSignal): Promise<void> {
    for (let after = '-infinity', limit = BATCH; !signal.aborted;) {
      const began = performance.now();
      const { rows } = await this.pool.query<SeenKeys>(DELETE_KEYS, [olderThan, limit, after]);
      const { seen, reached } = rows[0]!;
      if (seen < limit || reached === null) return;
      // All examined keys may have the same time and stay.
      limit = reached === after ? limit * 2 : BATCH;
      after = reached;
      await restAfterWork(began, signal);
    }
  }
}

/**
 * Pauses after a batch as long as the batch took, so that the database can do other work. At most LONGEST_REST_MS,
 * because the measured time is too long if the process was frozen meanwhile.
 */
async function restAfterWork(began: number, signal: AbortSignal): Promise<void> {
  const spent = performance.now() - began;
  await delay(Math.min(spent, LONGEST_REST_MS), undefined, { signal }).catch(() => undefined);
}

interface SeenKeys {
  seen: number;
  /** Creation time of the last key that was examined; null if no key was left to examine. */
  reached: string | null;
}

interface EndedTasks {
  /** Id of the last Task that was examined; null if no Task was left to examine. */
  reached: string | null;
  ended: string[] | null;
}

/**
 * Settings for the sessions of a purge. The planner must look up few rows among many by index, whatever the statistics.
 * A purge waits at most five seconds for a lock; then its job fails and is retried. Another replica that is frozen
 * during its purge does not hold locks for that long: `inTransaction` ends a transaction that is idle for two seconds.
 */
const PURGE_SETTINGS = {
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
  synchronous_commit: 'off',
  lock_timeout: '5000',
};

/** Upper bound of the ids that Parley creates from the time, which begin with a hexadecimal digit. */
const AFTER_TIMED_IDS = 'g';
const AFTER_ALL_IDS = '\u{10ffff}';

/**
 * SQL condition for UUIDs of another version than 7 (the fifteenth character). UUIDs of version 7 begin with the time.
 */
const UNTIMED_IDS = `AND substr(task_id, 15, 1) <> '7'`;

const findEnded = (which: string, kept: readonly string[]): string => `
  WITH RECURSIVE seen AS MATERIALIZED (
    SELECT task_id, context_id, tenant, owner, agent, state, updated_at, parent_task_id FROM task
    WHERE task_id > $1 AND task_id < $2 ${which} ORDER BY task_id LIMIT $4
  ),
  old AS (
    SELECT task_id, context_id, tenant, owner, agent, ARRAY[task_id] AS line FROM seen
    WHERE state IN ${ENDED} AND updated_at < $3
      AND (parent_task_id IS NULL OR NOT EXISTS (SELECT FROM task AS parent WHERE parent.task_id = seen.parent_task_id))
    UNION ALL
    SELECT child.task_id, child.context_id, child.tenant, child.owner, child.agent, old.line || child.task_id
    FROM old JOIN task AS child ON child.parent_task_id = old.task_id
    WHERE child.state IN ${ENDED} AND child.updated_at < $3
  ),
  ended AS (
    SELECT task_id FROM old WHERE true ${kept.map((query) => `AND NOT line && ARRAY(${query})`).join(' ')}
    LIMIT ${MOST_AT_ONCE}
  )
  SELECT (SELECT max(task_id) FROM seen) AS reached, (SELECT array_agg(task_id) FROM ended) AS ended`;

const DELETE_EVENTS = 'DELETE FROM task_log WHERE task_id = ANY($1::text[])';
const DELETE_TASKS = `DELETE FROM task WHERE task_id = ANY($1::text[]) AND state IN ${ENDED}`;

/** Deletes idempotency keys. A key is kept as long as its Task may exist, so that a repeated request finds the Task. */
const DELETE_KEYS = `
  WITH seen AS MATERIALIZED (
    SELECT ctid AS place, task_id, created_at FROM task_key
    WHERE created_at < $1 AND created_at >= $3::timestamptz ORDER BY created_at LIMIT $2
  ),
  deleted AS (
    DELETE FROM task_key WHERE ctid = ANY(ARRAY(SELECT place FROM seen WHERE NOT EXISTS (
      SELECT FROM task WHERE task.task_id = seen.task_id AND (task.state NOT IN ${ENDED} OR task.updated_at >= $1))))
  )
  SELECT count(*)::int AS seen, max(created_at)::text AS reached FROM seen`;

const PURGE = { name: 'tasks.purge', match: '*/10 * * * *' };
/** Cron entry of the job that purges Tasks whose ids do not begin with the time (`purgeUntimed`). */
const UNTIMED = { name: 'tasks.purge-untimed', match: '41 2 * * *' };

/** Job that purges Tasks which ended longer ago than `TASK_RETENTION`; without that setting, Tasks are kept forever. */
@Injectable()
export class TaskPurgeJob {
  private readonly logger = new Logger(TaskPurgeJob.name);

  constructor(
    jobs: Jobs,
    { taskRetentionMs }: AppConfig,
    private readonly purge: TaskPurge,
  ) {
    if (taskRetentionMs === undefined) return;
    scheduleUpkeep(jobs, PURGE, (signal) => this.runPurge(taskRetentionMs, signal));
    scheduleUpkeep(jobs, UNTIMED, (signal) => this.untimed(taskRetentionMs, signal));
  }

  private async runPurge(retention: number, signal: AbortSignal): Promise<void> {
    const olderThan = new Date(Date.now() - retention);
    const tasks = await this.purge.purgeTasks(olderThan, signal);
    if (tasks > 0) this.logger.log({ tasks, olderThan }, 'Purged tasks that ended long ago');
    signal.throwIfAborted();
  }

  private async untimed(retention: number, signal: AbortSignal): Promise<void> {
    await this.purge.purgeUntimed(new Date(Date.now() - retention), signal);
    signal.throwIfAborted();
  }
}

const FORGET_COMMITS = { name: 'tasks.forget-commits', match: '17 * * * *' };

/** Job that deletes old commits, at which no reader resumes any more, and merges the Task counts of former writers. */
@Injectable()
export class CommitForgetJob {
  constructor(jobs: Jobs, log: CommitLog, counts: TaskCounts) {
    scheduleUpkeep(jobs, FORGET_COMMITS, async (signal) => {
      await log.forgetCommits(new Date(Date.now() - COMMITS_KEPT_MS), signal);
      await counts.mergeCounts(signal);
    });
  }
}
