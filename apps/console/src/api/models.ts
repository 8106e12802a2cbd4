import type { Schemas } from '#libs/client';
import { getJson } from './http.js';

export const PROVIDERS = {
  'openai-compatible': 'OpenAI-compatible endpoint',
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  google: 'Google',
} as const satisfies Record<ModelEntry['provider'], string>;

export type ModelEntry = Schemas['ModelView'];

export async function listModels(signal: AbortSignal): Promise<ModelEntry[]> {
  return (await getJson<Schemas['ModelListView']>('/api/models', signal)).models;
}
