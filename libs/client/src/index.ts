export { type AnswerOptions, type ClientOptions, createClient, type ParleyClient, type Schemas } from './client.js';
export { ParleyError, type ParleyProblemEntry, ParleyUnreachable } from './parley-error.js';
export { eventFrames, type EventFrame, type RunEvent } from './run-follower.js';
export { type VerifiedWebhook, verifyWebhook, type WebhookOptions } from './verify-webhook.js';
export type { components, operations, paths } from './openapi.js';
