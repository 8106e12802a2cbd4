import { Injectable } from '@nestjs/common';
import { Jobs } from '#libs/jobs';
import { COMMITS_KEPT_MS, CommitLog } from './commit-log.js';
import { TaskCounts } from './task-counts.js';

const NAME = 'tasks.forget-commits';
const EVERY_HOUR = '17 * * * *';

/** Deletes commits that no reader may resume from any more, and merges the counts of former writers. */
@Injectable()
export class CommitForgetJob {
  constructor(jobs: Jobs, log: CommitLog, counts: TaskCounts) {
    const run = async (_payload: undefined, { signal }: { signal: AbortSignal }): Promise<void> => {
      await log.forget(new Date(Date.now() - COMMITS_KEPT_MS), signal);
      await counts.merge(signal);
    };
    jobs.register(NAME, { purpose: 'upkeep', read: () => undefined, run });
    jobs.every({ name: NAME, match: EVERY_HOUR });
  }
}
