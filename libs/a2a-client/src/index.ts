export {
  type AgentCallOptions,
  AgentClient,
  AgentDirectory,
  CalledTask,
  type CancelOutcome,
  type SendFence,
} from './agent-client.js';
export { AgentCallError, type AgentCallFailure, withoutCredentialName } from './agent-call-error.js';
export { networkFailure } from './call-failure.js';
export {
  CARD_PATH,
  CardGuard,
  hostCardUrl,
  isAboveUrl,
  isOfService,
  isPre10Card,
  ownCardUrl,
  pre10CardUrl,
  readAgentCard,
  type ReceivedCard,
} from './agent-cards.js';
export type { CredentialsOf } from './transports/agent-transport.js';
export { responseErrorBody } from './agent-request.js';
export { OutgoingFiles } from './transports/file-opening-transport.js';
export {
  applyProof,
  cardSecurity,
  type RequestAuth,
  RequestSigners,
  type RequiredSecurity,
  type SecurityScheme,
  type SigningRequest,
  UNUSABLE_CREDENTIAL,
} from './request-signers.js';
export { sseEvents } from './sse-events.js';
export { StoppableTimer } from './call-deadlines.js';
export { grpcOrigin } from './transports/grpc-transport.js';
export { HttpAgentDirectory } from './http-agent-directory.js';
