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
      await log.forgetCommits(new Date(Date.now() - COMMITS_KEPT_MS), signal);
      await counts.mergeCounts(signal);
    };
    jobs.registerHandler(NAME, { purpose: 'upkeep', read: () => undefined, run });
    jobs.scheduleCron({ name: NAME, match: EVERY_HOUR });
  }
}
