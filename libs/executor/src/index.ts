export { AgentExecutor, type CallContext, type RequestContext, TaskCanceled } from './agent-executor.js';
export { AgentCatalog, type ServedAgent, UnknownAgent } from './agent-catalog.js';
