import type { TaskEvent, TaskScope } from '#libs/tasks';
import type { WorkflowRevision } from '../workflow.js';

/** Run that another run begins with. */
export interface RerunOrigin {
  workflow: WorkflowRevision;
  /** Whole log of the run. */
  log: readonly TaskEvent[];
}

/** Lookup of the runs that reruns begin with. */
export abstract class RerunOrigins {
  /** Resolves with a run; `undefined` if the caller may not read it, or it is no longer kept. */
  abstract findOrigin(runId: string, scope: TaskScope): Promise<RerunOrigin | undefined>;
}
