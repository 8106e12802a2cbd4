import type { TaskEvent, TaskScope } from '#libs/tasks';
import type { WorkflowRevision } from '../workflow.js';

/** A run that another one begins with. */
export interface RerunOrigin {
  workflow: WorkflowRevision;
  /** Its whole log. */
  log: readonly TaskEvent[];
}

/** Finds the runs that others begin with. */
export abstract class RerunOrigins {
  /** `undefined` where there is none that this caller may read, or it is not kept any more. */
  abstract find(runId: string, scope: TaskScope): Promise<RerunOrigin | undefined>;
}
