export {
  asksTheSame,
  LOOK_AT_REMOTE,
  type NextLook,
  nextLook,
  LOOK_BACKOFF,
  readRemoteLook,
  type RemoteLook,
  remoteLookKey,
} from './execution/asking-children.js';
export { CANCEL_CHILD, type ChildCancel, createCancelJob, readChildCancel } from './execution/child-cancel.js';
export {
  childReference,
  externalCall,
  nodeOfInstance,
  nodePath,
  nodeUrl,
  pathAround,
  workflowPath,
} from './execution/node-dispatch.js';
export {
  type LastSequences,
  LOOK_AGAIN,
  readRecheckJob,
  type RecheckChildren,
  reportedError,
} from './execution/run-ending.js';
export {
  type LaterOutcome,
  type MovedOnChild,
  NodeMetrics,
  type RerunOrigin,
  type RunChild,
  RunChildStore,
  RunFolds,
  type RunServices,
  type SlotRequest,
} from './execution/run-services.js';
export { runSpanSteps, WorkflowExecutor } from './execution/workflow-executor.js';
export { OriginResults, parseInstance } from './rerun/reused-results.js';
export {
  type CanceledChild,
  type NodeInstance,
  type NodeStatus,
  readNodeId,
  type RunStatus,
  type SkipReason,
} from './state/node-instance.js';
export {
  BUDGET_KEY,
  budgetOfRun,
  readRerunRequest,
  readRunMetadata,
  RERUN_KEY,
  rerunMetadata,
  type RerunRequest,
  runMetadata,
} from './state/run-metadata.js';
export { answerFaults, namedNode, NODE_KEY } from './state/run-questions.js';
export { RunState, runStatus } from './state/run-state.js';
export type { RunEventType } from './state/run-metadata.js';
export { done, workflowCanceled, workflowFailed } from './state/run-steps.js';
export type { StepPayloads } from './state/step-payloads.js';
export { SYSTEM_CLOCK } from './state/timers.js';
export { isRun, mayBeRun, revisionOf, runEvents, runProjection, workflowOf, workflowRunBy } from './views/run-event.js';
export {
  type InstanceCounts,
  instancePage,
  type InstanceView,
  type NodeDetail,
  nodeDetail,
  type NodeView,
  type NodeWait,
  type RunSource,
  type RunView,
  runView,
  shownFailure,
} from './views/run-view.js';
export { undefinedRunView } from './views/undefined-run-view.js';
export { WorkBudget, WorkBudgetModule } from './work/work-budget.js';
