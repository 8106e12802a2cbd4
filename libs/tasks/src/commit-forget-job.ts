import { Injectable } from '@nestjs/common';
import { Jobs } from '#libs/platform';
import { COMMITS_KEPT_MS, CommitLog } from './commit-log.js';

const NAME = 'tasks.forget-commits';
const EVERY_HOUR = '17 * * * *';

/** Has commits forgotten that no reader may go on from any more. */
@Injectable()
export class CommitForgetJob {
  constructor(jobs: Jobs, log: CommitLog) {
    const run = (_payload: undefined, { signal }: { signal: AbortSignal }): Promise<void> =>
      log.forget(new Date(Date.now() - COMMITS_KEPT_MS), signal);
    jobs.register(NAME, { read: () => undefined, run });
    jobs.every({ name: NAME, match: EVERY_HOUR });
  }
}
