import { Injectable, Logger } from '@nestjs/common';
import { type JobContext, Jobs } from '#libs/jobs';
import { AppConfig } from '#libs/service';
import { TaskPurge } from './task-purge.js';

const NAME = 'tasks.purge';
const EVERY_TEN_MINUTES = '*/10 * * * *';
/** It looks through all Tasks. */
const UNTIMED = 'tasks.purge-untimed';
const EVERY_NIGHT = '41 2 * * *';

/** Has Tasks purged that ended longer ago than `TASK_RETENTION`; without it Tasks are kept for ever. */
@Injectable()
export class TaskPurgeJob {
  private readonly logger = new Logger(TaskPurgeJob.name);

  constructor(
    jobs: Jobs,
    { taskRetentionMs }: AppConfig,
    private readonly purge: TaskPurge,
  ) {
    if (taskRetentionMs === undefined) return;
    jobs.register(NAME, { read: () => undefined, run: (_payload, context) => this.run(taskRetentionMs, context) });
    jobs.every({ name: NAME, match: EVERY_TEN_MINUTES });
    const untimed = (_payload: undefined, context: JobContext): Promise<void> => this.untimed(taskRetentionMs, context);
    jobs.register(UNTIMED, { read: () => undefined, run: untimed });
    jobs.every({ name: UNTIMED, match: EVERY_NIGHT });
  }

  private async run(retention: number, { signal }: JobContext): Promise<void> {
    const olderThan = new Date(Date.now() - retention);
    const tasks = await this.purge.purge(olderThan, signal);
    if (tasks > 0) this.logger.log({ tasks, olderThan }, 'Purged tasks that ended long ago');
    signal.throwIfAborted();
  }

  private async untimed(retention: number, { signal }: JobContext): Promise<void> {
    await this.purge.purgeUntimed(new Date(Date.now() - retention), signal);
    signal.throwIfAborted();
  }
}
