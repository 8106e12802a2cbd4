import { Injectable } from '@nestjs/common';
import { Jobs } from '#libs/jobs';
import { TaskCounts } from './task-counts.js';

const NAME = 'tasks.fold-counts';
const EVERY_MINUTE = '* * * * *';

/** Folds the counts that dead processes, and replicas of the previous version, have appended. */
@Injectable()
export class CountFoldingJob {
  constructor(jobs: Jobs, counts: TaskCounts) {
    const run = (_payload: undefined, { signal }: { signal: AbortSignal }): Promise<void> => counts.foldCounts(signal);
    jobs.registerHandler(NAME, { read: () => undefined, run });
    jobs.scheduleCron({ name: NAME, match: EVERY_MINUTE });
  }
}
