import { Injectable } from '@nestjs/common';
import { Jobs } from '#libs/jobs';
import { Database } from '#libs/postgres';
import { TaskStore } from '#libs/tasks';
import { LOOK_AGAIN, type LookAgain, readLookAgain } from './look-again-job.js';

/**
 * Goes on with runs that ask for what nobody waits for any more. A child may be answered while its run is about to wait,
 * after that has looked at it for the last time: the database makes due what waits already (WakeAskingRuns), and what is
 * being written by somebody it leaves alone. The job in the commit of the waiting looks once more, whichever process dies.
 */
@Injectable()
export class RunWaking {
  constructor(
    jobs: Jobs,
    private readonly tasks: TaskStore,
    private readonly database: Database,
  ) {
    jobs.register(LOOK_AGAIN, { read: readLookAgain, run: (payload) => this.lookAgain(payload) });
  }

  private async lookAgain({ runId, children }: LookAgain): Promise<void> {
    const headers = await this.tasks.headers(Object.keys(children));
    const isNews = [...headers.values()].some(({ taskId, lastSequence }) => lastSequence !== children[taskId]);
    if (isNews) await this.database.pool.query(MAKE_DUE, [runId]);
  }
}

// A run that somebody goes on with at this moment is not due any more with the next event that it writes.
const MAKE_DUE = `
  WITH due AS (
    UPDATE task SET wake_at = least(wake_at, now())
    WHERE task_id = $1 AND state IN ('TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED')
    RETURNING task_id)
  SELECT graphile_worker.add_job('tasks.wake', json_build_object('taskId', task_id), job_key => 'tasks.wake/' || task_id)
  FROM due`;
