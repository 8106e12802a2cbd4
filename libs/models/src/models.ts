import type { Model } from './model.js';

/** What a model takes. */
export interface ModelInput {
  /** As those of the model. */
  modes: readonly string[];
  /** When somebody last said so; absent: it holds while the process lives. */
  changedAt?: Date;
}

/** Finds models by name. */
export abstract class Models {
  /** That of whoever names none; known without a look-up. */
  abstract readonly defaultModel: Pick<Model, 'name' | 'inputModes'>;

  /**
   * @param name absent: the default model. `echo` is always the built-in one, which answers with what it was told.
   * @param of whose model it is, and for how long it is wanted
   * @throws ModelError where there is none of the name
   */
  abstract find(name: string | undefined, of: { tenant: string; signal?: AbortSignal }): Promise<Model>;

  /** What the model of a name takes at the moment; waits for no database. */
  abstract input(name: string, of: { tenant: string }): Promise<ModelInput>;
}
