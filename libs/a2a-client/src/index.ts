export {
  AgentClient,
  AgentDirectory,
  type CallOptions,
  type CallTimeouts,
  type CancelOutcome,
} from './agent-client.js';
export { AgentCallError, type AgentCallFailure } from './agent-call-error.js';
export { readAgentCard } from './agent-cards.js';
export type { CallCredentials, CredentialsOf } from './agent-credentials.js';
export type { AgentHttp } from './agent-http.js';
export { CardGuard, type ReceivedCard } from './card-guard.js';
export { CARD_PATH, hostCardUrl, isOfService, ownCardUrl } from './card-places.js';
export { CredentialProofs, type CallProof, type WantedProof } from './call-proof.js';
export { type CardSecurity, cardSecurity, type SecurityScheme } from './card-security.js';
export { CalledTask } from './called-task.js';
export { DEFAULT_TIMEOUTS } from './call-limits.js';
export type { OutcomeCounter } from './call-outcomes.js';
export { HttpAgentDirectory, type HttpAgentDirectoryOptions } from './http-agent-directory.js';
export { LocalAgents } from './local-agents.js';
export { RecentlyUsed } from './recently-used.js';
