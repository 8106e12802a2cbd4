export {
  type AnswerOptions,
  type AnyWorkflows,
  type ClientOptions,
  createClient,
  type ParleyClient,
  type Schemas,
  type WorkflowTypes,
} from './client.js';
export { ParleyError, type ParleyProblemEntry, ParleyUnreachable } from './parley-error.js';
export type {
  AnyRunEvent,
  EventArtifact,
  EventCancelOutcome,
  EventFailure,
  EventPart,
  RunEvent,
  RunEventPayloads,
  KnownEventType,
} from './run-event.js';
export { eventFrames, type EventFrame } from './run-follower.js';
export { dataOf, outputsOf, textOf } from './run-results.js';
export { type ReceivedWebhook, type VerifiedWebhook, verifyWebhook, type WebhookOptions } from './verify-webhook.js';
export type { components, operations, paths } from './openapi.js';
