import type { JsonObject, JsonValue } from '#libs/protocol';

export const MODEL_PROVIDERS = ['openai-compatible', 'openai', 'anthropic', 'google'] as const;

/** Provider whose API a model speaks. */
export type ModelProvider = (typeof MODEL_PROVIDERS)[number];

/** Settings for calls of a model at its provider. */
export interface ModelSettings {
  provider: ModelProvider;
  /** Model's name at the provider. */
  model: string;
  baseUrl: string;
  /** Media types of Parts that the model takes beside text and data. */
  input: readonly string[];
}

/** Default URLs of the providers. An OpenAI-compatible model must have its own URL. */
export const PROVIDER_URLS: Readonly<Record<Exclude<ModelProvider, 'openai-compatible'>, string>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
};

/** Options of every call, by the keys of the providers' packages. */
export const PROVIDER_OPTIONS: Readonly<Record<string, Record<string, JsonValue> & JsonObject>> = {
  // OpenAI's strict mode rejects schemas that use other features of JSON Schema.
  openaiCompatible: { strictJsonSchema: false },
  // Conversations are stored in this service only.
  openai: { strictJsonSchema: false, store: false },
};

const TEXT = ['text/plain', 'application/json'];

export function inputModes(input: readonly string[]): string[] {
  return [...new Set([...TEXT, ...input])];
}

/** Pattern of models' names. */
export const MODEL_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;

/** Tenant and name of a model. */
export interface ModelId {
  tenant: string;
  name: string;
}

/** Definition of a model by its tenant. */
export interface ModelDefinition {
  provider: ModelProvider;
  /** Model's name at the provider. */
  model: string;
  /** URL of the model; absent: the provider's default URL. */
  baseUrl?: string;
  /** Name of the credential for calls. */
  auth?: string;
  /** Media types of Parts that the model takes beside text and data. */
  input: string[];
}

/** Stored model. */
export interface StoredModel extends ModelId, ModelDefinition {
  createdAt: Date;
  updatedAt: Date;
}
