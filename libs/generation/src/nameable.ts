import { Injectable } from '@nestjs/common';
import { McpServerError, McpServers, McpTools } from '#libs/mcp-client';
import { ModelStore } from '#libs/models';
import { ToolRegistry } from '#libs/nodes';
import { WorkflowStore } from '#libs/orchestrator';
import { RemoteAgentCards } from '#libs/remote-agents';

/** Maximum names of each kind in a prompt. */
const MOST_NAMES = 100;
/** Maximum MCP servers that are asked for their tools. */
const MOST_SERVERS = 20;
/** Milliseconds for MCP servers to list their tools. */
const LISTING_MS = 5_000;

/** Names that the nodes of a tenant's workflows may use, without credentials and definitions. */
export interface NameableThings {
  workflows: string[];
  models: string[];
  /** Built-in tools by name, others as `server/tool`. */
  tools: string[];
  /** URLs of agents elsewhere that were called before. */
  agents: string[];
}

/** Looks up what the nodes of a workflow may name. */
@Injectable()
export class Nameable {
  constructor(
    private readonly workflows: WorkflowStore,
    private readonly models: ModelStore,
    private readonly builtIn: ToolRegistry,
    private readonly servers: McpServers,
    private readonly mcp: McpTools,
    private readonly cards: RemoteAgentCards,
  ) {}

  /** Returns at most a hundred names of each kind. A server that does not answer is named without its tools. */
  async listNames(tenant: string, signal: AbortSignal): Promise<NameableThings> {
    const [workflows, models, tools, { cards }] = await Promise.all([
      this.workflows.inTenant(tenant).listWithNodes(MOST_NAMES),
      this.models.listModels(tenant, { limit: MOST_NAMES, after: '' }),
      this.serverTools(tenant, signal),
      this.cards.listCards(tenant, { pageSize: MOST_NAMES, after: undefined }),
    ]);
    return {
      workflows: workflows.map(({ name }) => name),
      models: models.map(({ name }) => name),
      tools: [...this.builtIn.names, ...tools].slice(0, MOST_NAMES),
      // A query may contain secrets.
      agents: cards.map(({ url }) => url).filter((url) => !url.includes('?')),
    };
  }

  private async serverTools(tenant: string, signal: AbortSignal): Promise<string[]> {
    const servers = (await this.servers.listServers(tenant)).slice(0, MOST_SERVERS);
    const limited = AbortSignal.any([signal, AbortSignal.timeout(LISTING_MS)]);
    const found = await Promise.all(servers.map(({ name }) => this.toolsOf(name, tenant, limited)));
    signal.throwIfAborted();
    return found.flat();
  }

  private async toolsOf(server: string, tenant: string, signal: AbortSignal): Promise<string[]> {
    try {
      const tools = await this.mcp.findMcpTools([`${server}/*`], { tenant, signal });
      return tools.map(({ name }) => name);
    } catch (error) {
      if (error instanceof McpServerError || signal.aborted) return [`${server}/*`];
      throw error;
    }
  }
}
