export { AgentCall, type CallProgress } from './agent-call.js';
export { CALL_QUESTION, needsPerson, questionMessage, questionParts, questionText } from './agent-question.js';
export type { AgentCallSpec, CallIdentity, CallingTask, CallTarget } from './agent-call-spec.js';
export { LAST_LOOK_MS } from './call-end.js';
export {
  type CallFailure,
  type CallFailureKind,
  type CallOutcome,
  isLeftWaiting,
  statusTextOf,
  withStatusText,
} from './call-outcome.js';
export { type CallCancelOutcome, type CanceledCall, cancelTask } from './cancel-task.js';
export type { KeptContext } from './kept-context.js';
export { NodeProgress } from './node-progress.js';
export { RemoteContexts, type RemoteTalk, talkKey } from './remote-contexts.js';
