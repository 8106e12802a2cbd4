import type { Artifact, JsonObject, Message } from '#libs/protocol';
import type { CanceledChild, NodeRun, RunError, RunStatus } from './node-run.js';
import type { Progress } from './progress.js';
import type { WorkflowDefinition } from './workflow.js';

/** What a run's log says; `RunState` folds it. */
export interface RunFacts {
  readonly definition: WorkflowDefinition;
  status: RunStatus;
  inputs: JsonObject;
  /** By id: the newest instance of each node. */
  readonly nodes: ReadonlyMap<string, NodeRun>;
  /** The instance of this name; the newest one of a node whose id it is. */
  find(instance: string): NodeRun | undefined;
  readonly progress: Progress;
  error?: RunError;
  children?: CanceledChild[];
  /** The run's Artifacts, in the order of their recording. */
  readonly results: Artifact[];
  /** The newest follow-up Message, and whether it still has to be passed on to a child. */
  received?: Message;
  undelivered: boolean;
  /** Whether `workflow.failed` was emitted. */
  failureReported: boolean;
  /** True if `run.nearly-full` was emitted. */
  isNearlyFull: boolean;
}
