import type { Artifact, JsonObject, Message } from '#libs/protocol';
import type { CanceledChild, NodeInstance, RunError, RunStatus } from './node-run.js';
import type { RunProgress } from './progress.js';
import type { WorkflowDefinition } from './workflow.js';

/** The state of a run as its log defines it; `RunState` folds it. */
export interface RunFacts {
  readonly definition: WorkflowDefinition;
  status: RunStatus;
  inputs: JsonObject;
  /** Newest instance of each node, by node id. */
  readonly nodes: ReadonlyMap<string, NodeInstance>;
  /** Returns the instance of this name, or the newest instance of the node with this id. */
  findInstance(instance: string): NodeInstance | undefined;
  readonly progress: RunProgress;
  error?: RunError;
  children?: CanceledChild[];
  /** Artifacts of the run, in the order of their recording. */
  readonly results: Artifact[];
  /** Newest follow-up Message. */
  received?: Message;
  undelivered: boolean;
  /** True if `workflow.failed` was emitted. */
  failureReported: boolean;
  /** True if `run.nearly-full` was emitted. */
  isNearlyFull: boolean;
}
