import type { JsonObject, JsonValue } from '#libs/protocol';
import type { ModelDefaults } from './model-defaults.js';
import type { ModelPrice } from './model-price.js';

export const MODEL_PROVIDERS = ['openai-compatible', 'openai', 'anthropic', 'google'] as const;

/** Provider whose API is used to call a model. */
export type ModelProvider = (typeof MODEL_PROVIDERS)[number];

/** Settings for the calls to a model at its provider. */
export interface ModelSettings {
  provider: ModelProvider;
  /** Model's name at the provider. */
  model: string;
  baseUrl: string;
  /** Media types of Parts that the model accepts beside text and JSON. */
  input: readonly string[];
  /** Settings of calls that set none; absent: the defaults of the provider. */
  defaults?: Readonly<ModelDefaults> | undefined;
}

/** Default base URLs of the providers. An `openai-compatible` model has no default and must name its own URL. */
const PROVIDER_URLS: Readonly<Record<Exclude<ModelProvider, 'openai-compatible'>, string>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
};

/** Returns the base URL of a model; `''` for an `openai-compatible` model without one. */
export function baseUrlOf({ provider, baseUrl }: Pick<ModelDefinition, 'provider' | 'baseUrl'>): string {
  return baseUrl ?? (provider === 'openai-compatible' ? '' : PROVIDER_URLS[provider]);
}

/** Options of every call, by the keys that the provider packages of the AI SDK use. */
export const PROVIDER_OPTIONS: Readonly<Record<string, Record<string, JsonValue> & JsonObject>> = {
  // OpenAI's strict mode rejects schemas that use other features of JSON Schema.
  openaiCompatible: { strictJsonSchema: false },
  // OpenAI must not store conversations: they are stored in this service only.
  openai: { strictJsonSchema: false, store: false },
};

const TEXT = ['text/plain', 'application/json'];

/** Returns the media types that a model accepts: text, JSON, and the media types in `input`. */
export function inputModes(input: readonly string[]): string[] {
  return [...new Set([...TEXT, ...input])];
}

/** Pattern of the names of models. */
export const MODEL_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;

/** Tenant and name that identify a stored model. */
export interface ModelId {
  tenant: string;
  name: string;
}

/** Definition of a model, as its tenant writes it. */
export interface ModelDefinition {
  provider: ModelProvider;
  /** Model's name at the provider. */
  model: string;
  /** Base URL of the provider; absent: the default URL of the provider. */
  baseUrl?: string;
  /** Name of the stored credential for calls; absent: calls carry none. */
  auth?: string;
  /** Media types of Parts that the model accepts beside text and JSON. */
  input: string[];
  /** Price of the model's tokens; absent: the cost of its calls is unknown. */
  price?: ModelPrice;
  /** Settings of calls that set none; absent: the defaults of the provider. */
  defaults?: ModelDefaults;
}

/** Stored model of a tenant. */
export interface StoredModel extends ModelId, ModelDefinition {
  createdAt: Date;
  updatedAt: Date;
}
