/** Finds the workflows that use a model, so that no model in use is deleted. */
export abstract class ModelNamers {
  /** Returns the names of a tenant's workflows whose newest revision names the model. */
  abstract findNamingWorkflows(tenant: string, model: string): Promise<string[]>;
}
