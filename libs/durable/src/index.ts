export { AgentCall, type CallProgress } from './agent-call.js';
export {
  CALL_QUESTION,
  type CallFailure,
  type CallFailureKind,
  type CallOutcome,
  isLeftWaiting,
  LAST_LOOK_MS,
  needsPerson,
  NodeProgress,
  questionMessage,
  questionParts,
  questionText,
  statusTextOf,
  withStatusText,
} from './call-outcome.js';
export {
  type AgentCallSpec,
  type CallCancelOutcome,
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
  AgentTalks,
  type TalkOutcome,
  type TalkRequest,
  type TalkSource,
  type TalkWait,
} from './agent-references.js';
export { type ProcessEvents, ProcessStreams } from './api/process-streams.js';
export {
  DEFINITION_GONE,
  endedProcessError,
  IdempotencyKey,
  type ProcessCall,
  Processes,
  type ProcessKind,
  type ProcessListing,
  unknownProcess,
} from './api/processes.js';
export {
  AsyncQueue,
  DurableExecution,
  linksOf,
  ProcessExecutor,
  type ProcessStart,
  type ProcessState,
  type Steps,
} from './durable-execution.js';
export { type CalledAgent, type PlannedCall, ProcessCalls, type ProcessServices } from './process-calls.js';
