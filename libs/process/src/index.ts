export { AgentReferences } from './agent-references.js';
export { AgentTalks, type TalkOutcome, type TalkRequest, type TalkSource, type TalkWait } from './agent-talks.js';
export { IdempotencyKey } from './api/idempotency-key.js';
export { type ProcessListing } from './api/process-page.js';
export { type ProcessEvents, ProcessStreams } from './api/process-streams.js';
export {
  DEFINITION_GONE,
  endedProcessError,
  type ProcessCall,
  Processes,
  type ProcessKind,
  unknownProcess,
} from './api/processes.js';
export { AsyncQueue } from './inbox.js';
export { DurableExecution, type ProcessState, type Steps } from './process.js';
export { type CalledAgent, type PlannedCall, ProcessCalls, type ProcessServices } from './process-calls.js';
export { linksOf, ProcessExecutor, type ProcessStart } from './process-executor.js';
