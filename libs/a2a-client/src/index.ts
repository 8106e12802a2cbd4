export { AgentClient, AgentDirectory, type AgentCallOptions, type CancelOutcome } from './agent-client.js';
export { AgentCallError, type AgentCallFailure } from './agent-call-error.js';
export { withoutCredentialName } from './credential-failure.js';
export { networkFailure } from './call-failure.js';
export { isAboveUrl, isPre10Card, readAgentCard } from './agent-cards.js';
export type { CredentialsOf } from './agent-transport.js';
export { CardGuard, type ReceivedCard } from './card-guard.js';
export { CARD_PATH, hostCardUrl, isOfService, ownCardUrl, pre10CardUrl } from './card-places.js';
export { responseErrorBody } from './error-body.js';
export { OutgoingFiles } from './outgoing-files.js';
export {
  RequestSigners,
  type RequestAuth,
  applyProof,
  type SigningRequest,
  UNUSABLE_CREDENTIAL,
} from './request-signers.js';
export { type RequiredSecurity, cardSecurity, type SecurityScheme } from './card-security.js';
export { CalledTask } from './called-task.js';
export { sseEvents } from './sse-events.js';
export { StoppableTimer } from './stoppable-timer.js';
export { HttpAgentDirectory, type LocalAgents } from './http-agent-directory.js';
