import type { Schemas } from '#libs/client';
import { callApi, getJson } from './http.js';

export const PROVIDERS = {
  'openai-compatible': 'OpenAI-compatible endpoint',
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  google: 'Google',
} as const satisfies Record<ModelEntry['provider'], string>;

export type ModelEntry = Schemas['ModelView'];

/** Name of the built-in model, which repeats its input. */
export const ECHO_MODEL = 'echo';

/** Models that nodes may name, and the name of the model for nodes that name none. */
export type ModelChoices = Pick<Schemas['ModelListView'], 'models' | 'defaultModel'>;

export function listModels(signal: AbortSignal): Promise<ModelChoices> {
  return getJson('/api/models', signal);
}

export type ModelTestResult = Schemas['ModelTestView'];

/**
 * Tests a model without storing it; the service calls the model once.
 * @throws ApiProblem if the service refuses the request or cannot be reached
 */
export function testModel(body: object): Promise<ModelTestResult> {
  return callApi('POST', '/api/models/test', { body });
}
