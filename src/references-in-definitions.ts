import { Injectable } from '@nestjs/common';
import { registeredAgentPath } from '#libs/agents';
import { CredentialNamers } from '#libs/credentials';
import { McpServers } from '#libs/mcp-client';
import { ModelError, ModelNamers, Models, ModelStore } from '#libs/models';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { RegisteredAgents } from '#libs/registered-agents';
import { Triggers } from '#libs/triggers';
import type { WorkflowNode } from '#libs/workflow-definition';
import { NamedModelLookup, ObjectReferences, ToolServers, WorkflowStore } from '#libs/workflows';

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

/** Determines if calls of a model that a workflow names find a model (see `Models.isUsable`). */
@Injectable()
export class UsableModels extends NamedModelLookup {
  constructor(private readonly models: Models) {
    super();
  }

  override has(tenant: string, name: string, hasOthers: boolean): Promise<boolean> {
    return this.models.isUsable(name, { tenant, hasOthers });
  }

  override async hasPrice(tenant: string, name: string | undefined): Promise<boolean> {
    const signal = AbortSignal.timeout(PRICE_MS);
    try {
      const usage = (await this.models.findModel(name, { tenant, signal })).estimateUsage?.({ messages: [], signal });
      return usage === undefined || usage.cost !== undefined;
    } catch (error) {
      if (error instanceof ModelError) return true;
      throw error;
    }
  }
}

/** Maximum milliseconds that the lookup of a price waits for the database. */
const PRICE_MS = 10_000;
const PAGE = 500;

/** Finds the users of a credential: node configs of workflows, models, MCP servers, registered agents and triggers. */
@Injectable()
export class WorkflowCredentialNamers extends CredentialNamers {
  constructor(
    private readonly store: WorkflowStore,
    private readonly stored: ModelStore,
    private readonly mcp: McpServers,
    private readonly registered: RegisteredAgents,
    private readonly fired: Triggers,
  ) {
    super();
  }

  registeredAgents(tenant: string, credential: string): Promise<string[]> {
    return this.registered.namesUsingCredential(tenant, credential);
  }

  findTriggers(tenant: string, credential: string): Promise<string[]> {
    return this.fired.namesUsingCredential(tenant, credential);
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

/** Finds the workflows that name an object. The given store reads them, and may belong to a transaction. */
@Injectable()
export class NamedObjects extends ObjectReferences {
  override async findNamingWorkflows(store: WorkflowStore, kind: string, name: string): Promise<string[]> {
    const names = NAMES_OBJECT[kind];
    return names ? findNamingWorkflows(store, (config) => names(config, name)) : [];
  }
}

/** Returns the names of the workflows that have a node with a matching config. Nodes of inline workflows count, too. */
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
 * True if `auth` or `credential_ref` names a credential, in a node's config or in an entry of its `agents` or `tools`.
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

/** Functions that return true if a config names the object of a given name, by the object's kind. */
const NAMES_OBJECT: Readonly<Record<string, (config: JsonObject, name: string) => boolean>> = {
  credential: namesCredential,
  model: namesModel,
  'mcp-server': namesServer,
  agent: namesRegisteredAgent,
};

/** True if a config names a tool of an MCP server (`server/tool`), also with a pattern. */
function namesServer({ tool, tools, approve }: JsonObject, server: string): boolean {
  const entries = [tool, ...[tools, approve].flatMap((list) => (Array.isArray(list) ? list : []))];
  return entries.some((it) => typeof it === 'string' && it.startsWith(`${server}/`));
}

/**
 * True if a config names a registered agent: in `external` nodes by the agent's name, in other members by the path of
 * the agent.
 */
function namesRegisteredAgent(config: JsonObject, agent: string): boolean {
  const path = `agents/${agent}`;
  return registeredAgentPath(config) === path || hasReference(config, path);
}

/**
 * True if a text in a value refers to a path below `/a2a`. Skips the member `body`, because the caller searches inner
 * workflows node by node.
 */
function hasReference(value: JsonValue | undefined, path: string): boolean {
  if (typeof value === 'string')
    return (
      value
        .replace(/^agent:/, '')
        .replace(/^\/?(a2a\/)?/, '')
        .replace(/\/$/, '') === path
    );
  if (Array.isArray(value)) return value.some((it) => hasReference(it, path));
  return isJsonObject(value) && Object.entries(value).some(([name, it]) => name !== 'body' && hasReference(it, path));
}

function namesModel({ model, fallbacks }: JsonObject, name: string): boolean {
  return model === name || (Array.isArray(fallbacks) && fallbacks.includes(name));
}
