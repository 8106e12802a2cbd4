export { REGISTERED_AGENT_MIGRATIONS } from './agents/registered-agent-tables.js';
export { RegisteredAgents } from './agents/registered-agents.js';
export { RegisteredAgentsModule } from './registered-agents.module.js';
export { findRegistrationProblems } from './api/registered-agent-kind.js';
