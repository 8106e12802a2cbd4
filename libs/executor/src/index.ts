export { CancelPoller, ChildEndings } from './cancel-poller.js';
export { acceptedRevision, type Execution, REVISION_CLAIM, RevisionClaims } from './execution.js';
export { ExecutionRegistry } from './execution-registry.js';
export { ExecutorModule, RevisionClaimModule } from './executor.module.js';
export { LeftReplicas, TaskRecovery } from './task-recovery.js';
export { isTaskBusy } from './task-claims.js';
export { readIdempotencyKey } from './idempotent-requests.js';
