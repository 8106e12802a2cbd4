import type { ModelProvider } from './model-settings.js';

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
