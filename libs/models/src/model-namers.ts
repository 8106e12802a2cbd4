/** Knows who names models, so that none is deleted that somebody still wants. */
export abstract class ModelNamers {
  /** The names of a tenant's workflows that name a model; the newest revisions count. */
  abstract workflows(tenant: string, model: string): Promise<string[]>;
}
