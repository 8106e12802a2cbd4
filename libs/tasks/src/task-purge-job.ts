import { Injectable, Logger } from '@nestjs/common';
import { AppConfig, type JobContext, Jobs } from '#libs/platform';
import { TaskPurge } from './task-purge.js';

const NAME = 'tasks.purge';
const EVERY_TEN_MINUTES = '*/10 * * * *';

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
  }

  private async run(retention: number, { signal }: JobContext): Promise<void> {
    const olderThan = new Date(Date.now() - retention);
    const tasks = await this.purge.purge(olderThan, signal);
    if (tasks > 0) this.logger.log({ tasks, olderThan }, 'Purged tasks that ended long ago');
    signal.throwIfAborted();
  }
}
