export { AgentCall, type CallProgress } from './agent-call.js';
export {
  CALL_QUESTION,
  type CallFailure,
  type CallFailureKind,
  type CallOutcome,
  isLeftWaiting,
  LAST_LOOK_MS,
  needsPerson,
  questionMessage,
  questionParts,
  questionText,
  statusTextOf,
  withStatusText,
} from './call-outcome.js';
export { NodeProgress, withDelay } from './node-progress.js';
export {
  type AgentCallSpec,
  type CallIdentity,
  type CallingTask,
  type CallTarget,
  type CanceledCall,
  cancelTask,
  type KeptContext,
  RemoteContexts,
  type RemoteTalk,
  talkKey,
} from './agent-call-spec.js';
export {
  AgentReferences,
  AgentReferencesModule,
  AgentTalks,
  type TalkOutcome,
  type TalkRequest,
  type TalkSource,
  type TalkWait,
} from './agent-references.js';
export {
  DEFINITION_GONE,
  endedProcessError,
  IdempotencyKey,
  ListAdmission,
  type ListCaller,
  listProcesses,
  type ProcessCall,
  Processes,
  type ProcessEvents,
  type ProcessKind,
  type ProcessListing,
  ProcessStreams,
  unknownProcess,
} from './api/processes.js';
export { isFinalStartFailure, RunStartCheck, startFailureText } from './api/run-start-check.js';
export {
  AsyncQueue,
  type CalledAgent,
  DurableExecution,
  linksOf,
  type PlannedCall,
  ProcessCalls,
  ProcessExecutor,
  type ProcessServices,
  type ProcessStart,
  type ProcessState,
  type Steps,
} from './durable-execution.js';
