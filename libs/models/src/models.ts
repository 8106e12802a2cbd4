import type { Model } from './model.js';

/** What a model takes. */
export interface ModelInput {
  /** As those of the model. */
  modes: readonly string[];
  /** When somebody last said so; absent: it holds while the process lives. */
  changedAt?: Date;
}

/** Whose model is wanted, and for how long. */
export interface WantedModel {
  tenant: string;
  signal?: AbortSignal;
  /**
   * Names of stored credentials, of which the first that may go to the model's endpoint takes the place of the model's own.
   * Each goes to its own hosts alone; where none may go there, no call is made.
   */
  credentials?: readonly string[];
}

/** Finds models by name. */
export abstract class Models {
  /** That of whoever names none; known without a look-up. */
  abstract readonly defaultModel: Pick<Model, 'name' | 'inputModes'>;

  /**
   * @param name absent: the default model. `echo` is always the built-in one, which answers with what it was told.
   * @throws ModelError where there is none of the name
   */
  abstract find(name: string | undefined, of: WantedModel): Promise<Model>;

  /** Returns the origin that calls of the model of a name go to; `undefined` for a model that calls nobody. */
  abstract origin(name: string | undefined, of: Pick<WantedModel, 'tenant'>): Promise<string | undefined>;

  /** What the model of a name takes at the moment; waits for no database. */
  abstract input(name: string, of: { tenant: string }): Promise<ModelInput>;
}
