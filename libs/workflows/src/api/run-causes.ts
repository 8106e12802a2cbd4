import { Injectable } from '@nestjs/common';
import { TaskEndings, type TaskScope } from '#libs/tasks';
import { workflowOf } from '#libs/workflow-engine';
import { type FailedRunEnd, RunActivityReader, type TimeRange } from '../storage/run-activity.js';
import { type CausedFailure, causeId, readFailure } from './failure-causes.js';

/** Maximum number of failed runs whose causes are read. The newest runs are used. */
export const MOST_FAILED = 500;

/** Reads why runs failed, and finds the runs that failed by one cause. */
@Injectable()
export class RunCauses {
  constructor(
    private readonly activity: RunActivityReader,
    private readonly endings: TaskEndings,
  ) {}

  /** Returns the failures of failed runs, at most MOST_FAILED. */
  async readFailures(failed: readonly FailedRunEnd[], scope: TaskScope): Promise<CausedFailure[]> {
    const read = failed.slice(0, MOST_FAILED);
    const ids = read.map(({ runId }) => runId);
    const endings = await this.endings.readEndings(scope, ids);
    return read.map(({ runId, agent, endedAt }) => ({
      runId,
      workflow: workflowOf({ agent }),
      endedAt: new Date(endedAt),
      failure: readFailure(endings.get(runId)),
    }));
  }

  /** Returns the ids of the runs that failed by a cause, among the MOST_FAILED newest failed runs of a range. */
  async findRuns(cause: string, range: Partial<TimeRange>, scope: TaskScope): Promise<string[]> {
    const failed = await this.activity.listFailed(scope, range, MOST_FAILED);
    const failures = await this.readFailures(failed, scope);
    return failures.filter(({ failure }) => causeId(failure) === cause).map(({ runId }) => runId);
  }
}
