import { getJson } from './http.js';

export const PROVIDERS = {
  'openai-compatible': 'OpenAI-compatible endpoint',
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  google: 'Google',
} as const;

export interface ModelEntry {
  name: string;
  provider: keyof typeof PROVIDERS;
  model: string;
  baseUrl?: string;
  auth?: string;
  input: string[];
  updatedAt: string;
}

export async function listModels(signal: AbortSignal): Promise<ModelEntry[]> {
  return (await getJson<{ models: ModelEntry[] }>('/api/models', signal)).models;
}
