import { Injectable } from '@nestjs/common';
import { Jobs } from '#libs/job-queue';
import { callerFlagSql } from '#libs/jobs';
import { Database } from '#libs/postgres';
import { type LastSequences, LOOK_AGAIN, readRecheckJob, type RecheckChildren } from '#libs/workflow-engine';

/**
 * Resumes a waiting run whose local child Task no longer waits, because its question was answered by a Message to the
 * child and not to the run. `RemoteLooks` does so for remote children. Two mechanisms find such a child:
 * - The database trigger `task_moved_on` makes the waiting run due, or enqueues a recheck job if the run's row is
 *   locked.
 * - A recheck job is enqueued in the commit by which a run begins to wait. The job finds an answer that came after the
 *   run's last poll of the child, and before that commit.
 */
@Injectable()
export class RunWaking {
  constructor(
    jobs: Jobs,
    private readonly database: Database,
  ) {
    jobs.registerHandler(LOOK_AGAIN, { read: readRecheckJob, run: (payload) => this.lookAgain(payload) });
  }

  private async lookAgain({ runId, children }: RecheckChildren): Promise<void> {
    if (await this.hasNews(children)) await this.database.pool.query(MAKE_DUE, [runId]);
  }

  private async hasNews(children: LastSequences): Promise<boolean> {
    const taskIds = Object.keys(children);
    const free = await this.readSequences(FREE, taskIds);
    if (free.some(({ task_id: taskId, last_sequence: sequence }) => sequence !== children[taskId])) return true;
    const known = new Set(free.map(({ task_id: taskId }) => taskId));
    for (const taskId of taskIds) {
      if (known.has(taskId)) continue;
      const [child] = await this.readSequences(ONCE_FREE, taskId);
      if (child && child.last_sequence !== children[taskId]) return true;
    }
    return false;
  }

  private async readSequences(text: string, which: string | readonly string[]): Promise<ChildSequenceRow[]> {
    return (await this.database.pool.query<ChildSequenceRow>(text, [which])).rows;
  }
}

interface ChildSequenceRow {
  task_id: string;
  last_sequence: number;
}

// A transaction that changed a child before its run was seen to wait holds the row of the child until it commits; a
// later transaction sees the waiting run. Wait for one row at a time: a transaction that holds one row while it waits
// for another could deadlock.
const FREE = 'SELECT task_id, last_sequence FROM task WHERE task_id = ANY($1::text[]) FOR SHARE SKIP LOCKED';
const ONCE_FREE = 'SELECT task_id, last_sequence FROM task WHERE task_id = $1 FOR SHARE';

// A run that is executing at this moment is no longer due after the next event that it records.
export const MAKE_DUE = `
  WITH due AS (
    UPDATE task SET wake_at = least(wake_at, now())
    WHERE task_id = $1 AND state IN ('TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED')
    RETURNING task_id, tenant, owner)
  SELECT graphile_worker.add_job('tasks.wake', json_build_object('taskId', task_id), job_key => 'tasks.wake/' || task_id,
                                 flags => ARRAY[${callerFlagSql('tenant', 'owner')}])
  FROM due`;
