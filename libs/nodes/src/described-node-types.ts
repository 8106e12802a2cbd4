import type { NodeType, NodeTypes } from '#libs/executor';
import { McpServerError, McpTools } from '#libs/mcp-client';
import { DEFAULT_CONTENT_LIMITS } from '#libs/service';
import { builtInTools, nodeTypes } from './nodes.module.js';
import { Plugins } from './plugins/plugins.js';

/**
 * Returns the node types for checking and describing definitions, without their services. Their executors cannot be
 * used.
 * @param modules paths of the operator's plugin modules (`PARLEY_PLUGINS`)
 * @param others node types of other libraries, created the same way
 * @throws ConfigError naming a module without usable definitions
 */
export async function describedNodeTypes(modules: readonly string[], ...others: NodeType[]): Promise<NodeTypes> {
  const limits = { content: DEFAULT_CONTENT_LIMITS };
  const plugins = await Plugins.loadModules(modules);
  const tools = builtInTools({ fetch }, limits, plugins);
  const servers = new AbsentServers();
  return nodeTypes(
    limits,
    placeholderService(),
    tools,
    placeholderService(),
    placeholderService(),
    placeholderService(),
    placeholderService(),
    plugins,
    servers,
    undefined,
    placeholderService(),
    undefined,
    undefined,
    ...others,
  );
}

/** Placeholder for an executor's services. */
export function placeholderService<T extends object>(): T {
  return {} as T;
}

/** Stands for servers that may exist where the definition is used. */
class AbsentServers extends McpTools {
  override findMcpTools(): never {
    throw new McpServerError('there are no MCP servers here');
  }

  override callMcpTool(): never {
    throw new McpServerError('there are no MCP servers here');
  }
}
