export { IdempotencyKey } from './api/idempotency-key.js';
export { type ProcessListing, processPage } from './api/process-page.js';
export { type ProcessEvents, ProcessStreams } from './api/process-streams.js';
export { hasEnded, type ProcessCall, Processes, type ProcessKind, unknownProcess } from './api/processes.js';
