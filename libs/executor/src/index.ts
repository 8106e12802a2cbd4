export { CancelWatch } from './cancel-watch.js';
export { AgentExecutor, type CallContext, type RequestContext, TaskCanceled } from './agent-executor.js';
export { AgentCatalog, type ServedAgent, UnknownAgent } from './agent-catalog.js';
export { type Execution, ExecutionInterrupted } from './execution.js';
export { type NodeSpec, NodeTypes } from './node-types.js';
export { ExecutionRegistry, REVISION_KEY, type RecoveredTurn } from './execution-registry.js';
export { ExecutorModule } from './executor.module.js';
export { TaskRecovery } from './task-recovery.js';
export { LiveEvents } from './live-events.js';
