import type { JsonObject, JsonValue } from '#libs/protocol';

export const MODEL_PROVIDERS = ['openai-compatible', 'openai', 'anthropic', 'google'] as const;

/** Whose wire a model speaks. */
export type ModelProvider = (typeof MODEL_PROVIDERS)[number];

/** What a model is to its provider. */
export interface ModelSettings {
  provider: ModelProvider;
  /** Its name at the provider. */
  model: string;
  baseUrl: string;
  /** Media types of Parts that it takes beside text and data. */
  input: readonly string[];
}

/** Where a provider's models are, unless a model says otherwise; an OpenAI-compatible one may be anywhere. */
export const PROVIDER_URLS: Readonly<Record<Exclude<ModelProvider, 'openai-compatible'>, string>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
};

/** What goes with every call, by the names that the providers' packages know. */
export const PROVIDER_OPTIONS: Readonly<Record<string, Record<string, JsonValue> & JsonObject>> = {
  // A schema of any shape, which the strict mode of OpenAI refuses.
  openaiCompatible: { strictJsonSchema: false },
  // What was said is kept here and nowhere else.
  openai: { strictJsonSchema: false, store: false },
};

const TEXT = ['text/plain', 'application/json'];

export function inputModes(input: readonly string[]): string[] {
  return [...new Set([...TEXT, ...input])];
}
