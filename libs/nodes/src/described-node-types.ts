import type { NodeType, NodeTypes } from '#libs/executor';
import { McpServerError, McpTools } from '#libs/mcp-client';
import { DEFAULT_CONTENT_LIMITS } from '#libs/service';
import { builtInTools, nodeTypes } from './nodes.module.js';
import { Plugins } from './plugins/plugins.js';

/**
 * The node types as far as definitions are checked and described by them, without anything that they would call.
 * Executors that they make cannot be used.
 * @param modules those of the operator's that define more (`PARLEY_PLUGINS`), by their paths
 * @param others node types of other libraries, made in the same way
 * @throws ConfigError naming a module that defines nothing that can be used
 */
export async function describedNodeTypes(modules: readonly string[], ...others: NodeType[]): Promise<NodeTypes> {
  const limits = { content: DEFAULT_CONTENT_LIMITS };
  const plugins = await Plugins.load(modules);
  const tools = builtInTools({ fetch }, limits, plugins);
  const servers = new AbsentServers();
  return nodeTypes(
    limits,
    absent(),
    tools,
    absent(),
    absent(),
    absent(),
    absent(),
    plugins,
    servers,
    undefined,
    absent(),
    undefined,
    undefined,
    ...others,
  );
}

/** Stands where an executor would find what it works with. */
export function absent<T extends object>(): T {
  return {} as T;
}

/** Servers may be there where the definition goes. */
class AbsentServers extends McpTools {
  override find(): never {
    throw new McpServerError('there are no MCP servers here');
  }

  override call(): never {
    throw new McpServerError('there are no MCP servers here');
  }
}
