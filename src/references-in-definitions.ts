import { Injectable } from '@nestjs/common';
import { CredentialNamers } from '#libs/credentials';
import { McpServers } from '#libs/mcp-client';
import { ModelNamers, ModelStore } from '#libs/models';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { RegisteredAgents } from '#libs/registered-agents';
import type { WorkflowNode } from '#libs/workflow-definition';
import { ObjectReferences, ToolServers, WorkflowStore } from '#libs/workflows';

/** Looks up the MCP servers that workflows name among those that the tenant may call. */
@Injectable()
export class RegisteredServers extends ToolServers {
  constructor(private readonly servers: McpServers) {
    super();
  }

  override async has(tenant: string, name: string): Promise<boolean> {
    return (await this.servers.get(tenant, name)) !== undefined;
  }
}

const PAGE = 500;

/** Finds the users of a credential: node configs of workflows, models, MCP servers and registered agents. */
@Injectable()
export class WorkflowCredentialNamers extends CredentialNamers {
  constructor(
    private readonly store: WorkflowStore,
    private readonly stored: ModelStore,
    private readonly mcp: McpServers,
    private readonly registered: RegisteredAgents,
  ) {
    super();
  }

  registeredAgents(tenant: string, credential: string): Promise<string[]> {
    return this.registered.namesUsingCredential(tenant, credential);
  }

  workflows(tenant: string, credential: string): Promise<string[]> {
    return findNamingWorkflows(this.store.inTenant(tenant), (config) => namesCredential(config, credential));
  }

  models(tenant: string, credential: string): Promise<string[]> {
    return this.stored.namesUsingCredential(tenant, credential);
  }

  servers(tenant: string, credential: string): Promise<string[]> {
    return this.mcp.namesUsingCredential(tenant, credential);
  }
}

/** Finds the workflows that name a model, in the config of an agent node. */
@Injectable()
export class NamedModels extends ModelNamers {
  constructor(private readonly store: WorkflowStore) {
    super();
  }

  findNamingWorkflows(tenant: string, model: string): Promise<string[]> {
    return findNamingWorkflows(this.store.inTenant(tenant), (config) => namesModel(config, model));
  }
}

/** Finds the workflows that name a credential or a model, by the given store, which may belong to a transaction. */
@Injectable()
export class NamedObjects extends ObjectReferences {
  override async findNamingWorkflows(store: WorkflowStore, kind: string, name: string): Promise<string[]> {
    const names = { credential: namesCredential, model: namesModel }[kind];
    return names ? findNamingWorkflows(store, (config) => names(config, name)) : [];
  }
}

/** Returns the names of the workflows with a node, also an inner one, whose config matches. */
async function findNamingWorkflows(
  store: ReturnType<WorkflowStore['inTenant']>,
  names: (config: JsonObject) => boolean,
): Promise<string[]> {
  const found: string[] = [];
  let page = await store.listRevisions(PAGE);
  for (; page.length > 0; page = await store.listRevisions(PAGE, page.at(-1)?.definition.name)) {
    const those = page.filter(({ definition }) => definition.nodes.some((node) => inAny(node, names)));
    found.push(...those.map(({ definition }) => definition.name));
  }
  return found;
}

function inAny({ config }: Pick<WorkflowNode, 'config'>, names: (config: JsonObject) => boolean): boolean {
  if (names(config)) return true;
  const inner = isJsonObject(config.body) && Array.isArray(config.body.nodes) ? config.body.nodes : [];
  return inner.some((it) => isJsonObject(it) && isJsonObject(it.config) && inAny({ config: it.config }, names));
}

/**
 * True if a config names a credential: `auth` of the node, of a side of a conversation, of an agent used as a tool, or
 * of an agent of a brainstorm, which may also have a `credential_ref`.
 */
function namesCredential(config: JsonObject, credential: string): boolean {
  const agents = [config.agents, config.tools].flatMap((list) => (Array.isArray(list) ? list : []));
  return [config, ...agents].some(
    (it) => isJsonObject(it) && [it.auth, it.credential_ref].some((named) => isNamed(named, credential)),
  );
}

function isNamed(auth: JsonValue | undefined, credential: string): boolean {
  return auth === credential || (isJsonObject(auth) && Object.values(auth).includes(credential));
}

function namesModel({ model, fallbacks }: JsonObject, name: string): boolean {
  return model === name || (Array.isArray(fallbacks) && fallbacks.includes(name));
}
