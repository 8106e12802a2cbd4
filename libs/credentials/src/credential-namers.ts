/** Knows who names credentials, so that none is deleted that somebody still wants. */
export abstract class CredentialNamers {
  /** The names of a tenant's workflows that name a credential; the newest revisions count. */
  abstract workflows(tenant: string, credential: string): Promise<string[]>;
  /** The names of a tenant's models that name a credential. */
  abstract models(tenant: string, credential: string): Promise<string[]>;
  /** The names of MCP servers that name a credential: the tenant's, and those that are everybody's. */
  abstract servers(tenant: string, credential: string): Promise<string[]>;
}
