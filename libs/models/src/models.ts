import type { Model } from './model.js';

/** Input that a model accepts. */
export interface ModelInput {
  /** Media types, as in `Model.inputModes`. */
  modes: readonly string[];
  /** Time of the model's last change; absent: the modes hold for the lifetime of the process. */
  changedAt?: Date;
}

/** Tenant of the wanted model, and options of its lookup. */
export interface WantedModel {
  tenant: string;
  signal?: AbortSignal;
  /**
   * Names of stored credentials to use instead of the model's own: the first one that may be sent to the model's
   * endpoint. Each is sent to its own hosts only; if none may be sent, the call fails.
   */
  credentials?: readonly string[];
}

/** Finds models by name. */
export abstract class Models {
  /** Model for nodes that name none; available without a lookup. */
  abstract readonly defaultModel: Pick<Model, 'name' | 'inputModes'>;

  /**
   * Finds a model.
   * @param name absent: the default model. `echo` is always the built-in one, which repeats its input.
   * @throws ModelError if there is no model of the name
   */
  abstract findModel(name: string | undefined, of: WantedModel): Promise<Model>;

  /** Returns the origin that calls of a model go to; `undefined` for a model without remote calls. */
  abstract findOrigin(name: string | undefined, of: Pick<WantedModel, 'tenant'>): Promise<string | undefined>;

  /** Returns the current input of a model. Does not wait for an unreachable database. */
  abstract findInput(name: string, of: { tenant: string }): Promise<ModelInput>;
}
