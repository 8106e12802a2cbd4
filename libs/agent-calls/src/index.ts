export { AgentCall, type CallProgress } from './agent-call.js';
export type { AgentCallSpec, CallIdentity, CallingTask, CallTarget } from './agent-call-spec.js';
export { type CallOutcome, saidOf } from './call-outcome.js';
export { type CallCancelOutcome, cancelTask } from './cancel-task.js';
export { ownChildren } from './own-children.js';
