import { get } from './http.js';

export const PROVIDERS = {
  'openai-compatible': 'OpenAI-compatible endpoint',
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  google: 'Google',
} as const;

export interface Model {
  name: string;
  provider: keyof typeof PROVIDERS;
  model: string;
  baseUrl?: string;
  auth?: string;
  input: string[];
  updatedAt: string;
}

export async function listModels(signal: AbortSignal): Promise<Model[]> {
  return (await get<{ models: Model[] }>('/api/models', signal)).models;
}
