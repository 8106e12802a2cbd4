import type { ModelProvider } from './model-settings.js';

/** What names of models look like. */
export const MODEL_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;

/** Whose model, and which. */
export interface ModelId {
  tenant: string;
  name: string;
}

/** What somebody says of a model. */
export interface ModelDefinition {
  provider: ModelProvider;
  /** Its name at the provider. */
  model: string;
  /** Absent: where the provider always is. */
  baseUrl?: string;
  /** The name of the credential that calls carry. */
  auth?: string;
  /** Media types of Parts that it takes beside text and data. */
  input: string[];
}

/** A model as its keepers see it. */
export interface StoredModel extends ModelId, ModelDefinition {
  createdAt: Date;
  updatedAt: Date;
}
