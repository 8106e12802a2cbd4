export { AgentClient, AgentDirectory, type CallOptions, type CallTimeouts, type CancelOutcome } from './agent-client.js';
export { AgentCallError, type AgentCallFailure } from './agent-call-error.js';
export { LocalAgents } from './local-agents.js';
