export { cardProblems, type CardVersion, cardVersion } from './api/card-problems.js';
export { CardKeys, isKeyFailure } from './card-signatures.js';
export { RemoteAgentCards } from './remote-agent-cards.js';
export { RemoteAgentsModule } from './remote-agents.module.js';
export { REMOTE_AGENT_MIGRATIONS } from './card-pins.js';
