export { type AnswerOptions, createClient, type ClientOptions, type ParleyClient } from './client.js';
export { ParleyError, ParleyUnreachable, type ParleyProblemEntry } from './parley-error.js';
export type { RunEvent } from './run-event.js';
export { verifyWebhook, type VerifiedWebhook, type WebhookOptions } from './verify-webhook.js';
export type { components, operations, paths } from './openapi.js';
