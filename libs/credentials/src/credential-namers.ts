/** Finds references to credentials, so that no referenced one is deleted. */
export abstract class CredentialNamers {
  /** Returns the names of a tenant's workflows whose newest revision references a credential. */
  abstract workflows(tenant: string, credential: string): Promise<string[]>;
  /** Returns the names of a tenant's models that reference a credential. */
  abstract models(tenant: string, credential: string): Promise<string[]>;
  /** Returns the names of MCP servers that reference a credential: those of the tenant, and shared ones. */
  abstract servers(tenant: string, credential: string): Promise<string[]>;
}
