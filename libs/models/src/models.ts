import type { Model } from './model.js';

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
}
