import { Module } from '@nestjs/common';
import { AgentDirectory } from '#libs/a2a-client';
import {
  BrainstormEntries,
  CallBudgets,
  CallChainModule,
  CallChains,
  ConversationEntries,
  type NodeType,
  NodeTypes,
} from '#libs/agents';
import { AgentReferences, AgentReferencesModule, AgentTalks, RemoteContexts } from '#libs/durable';
import { OutboundHttp } from '#libs/http-client';
import { McpServerError, McpTools } from '#libs/mcp-client';
import { Models, ModelsModule } from '#libs/models';
import { SecretBox } from '#libs/postgres';
import { AppConfig, DEFAULT_CONTENT_LIMITS } from '#libs/service';
import { DailyBudgets, RunBudgets, TasksModule, TaskStore } from '#libs/tasks';
import { AgentMemory } from './agent/agent-memory.js';
import { AgentNode } from './agent/agent-node.js';
import { type AgentTools, type AgentToolServices, BuiltInTools, ToolsWithServers } from './agent/agent-tools.js';
import { ExternalNode } from './external-node.js';
import { HumanNode, SetNode, WaitNode } from './flow-nodes.js';
import { InputNode, OutputNode } from './node-executor.js';
import { NodeTypeRegistry } from './node-type-registry.js';
import { PluginHandlers, PluginNode, Plugins, PluginTool } from './plugins.js';
import { ScriptNode } from './script/script-node.js';
import { ToolNode } from './tool-node.js';
import { Calculator, CurrentTime, HttpGet } from './tools/built-in-tools.js';
import { ToolRegistry } from './tools/tool-registry.js';

/** Injection token of the node types of other libraries: `NodeType[]`. */
export const OTHER_NODE_TYPES = Symbol('OTHER_NODE_TYPES');

/**
 * Module of the node types that a workflow may contain, and of the built-in tools. Needs the modules of the ground
 * layer, a global AgentDirectory, and a global provider of OTHER_NODE_TYPES. The module with that provider may also
 * provide the services that are optional here, such as McpTools.
 */
@Module({
  imports: [AgentReferencesModule, CallChainModule, ModelsModule, TasksModule],
  providers: [
    { provide: Plugins, inject: [AppConfig], useFactory: ({ plugins }: AppConfig) => Plugins.loadModules(plugins) },
    PluginHandlers,
    { provide: ToolRegistry, inject: [OutboundHttp, AppConfig, Plugins], useFactory: builtInTools },
    {
      provide: NodeTypes,
      inject: [
        AppConfig,
        Models,
        ToolRegistry,
        TaskStore,
        AgentDirectory,
        CallChains,
        SecretBox,
        Plugins,
        AgentReferences,
        OTHER_NODE_TYPES,
        RunBudgets,
        DailyBudgets,
        { token: McpTools, optional: true },
        { token: RemoteContexts, optional: true },
        { token: CallBudgets, optional: true },
        { token: AgentTalks, optional: true },
      ],
      useFactory: nodeTypes,
    },
  ],
  exports: [NodeTypes, ToolRegistry],
})
export class NodesModule {}

function builtInTools(
  http: Pick<OutboundHttp, 'fetch'>,
  { content }: Pick<AppConfig, 'content'>,
  plugins: Plugins,
): ToolRegistry {
  const own = [new CurrentTime(), new Calculator(), new HttpGet(http.fetch, undefined, content.jsonMembers)];
  plugins.refuseTools(own.map(({ name }) => name));
  return new ToolRegistry([...own, ...plugins.tools.map(({ defined }) => new PluginTool(defined))]);
}

function agentTools(registry: ToolRegistry, mcp: McpTools | undefined): AgentTools {
  const own = new BuiltInTools(registry);
  return mcp ? new ToolsWithServers(own, mcp) : own;
}

function nodeTypes(
  { content }: Pick<AppConfig, 'content'>,
  models: Models,
  tools: ToolRegistry,
  tasks: TaskStore,
  directory: AgentDirectory,
  chains: CallChains,
  secrets: SecretBox,
  plugins: Plugins,
  references: AgentReferences,
  others: readonly NodeType[],
  runBudgets: RunBudgets,
  daily: DailyBudgets,
  mcp?: McpTools,
  contexts?: RemoteContexts,
  budgets?: CallBudgets,
  talks?: AgentTalks,
): NodeTypes {
  const entries = new ConversationEntries(chains);
  const agents: AgentToolServices = {
    directory,
    tasks,
    chains,
    references,
    ...(budgets && { budgets }),
    ...(talks && { talks }),
  };
  const brainstorms = new BrainstormEntries(chains);
  const memory = new AgentMemory(tasks, entries, brainstorms);
  const own = [
    new InputNode(),
    new AgentNode({
      models,
      tools: agentTools(tools, mcp),
      memory,
      entries,
      brainstorms,
      agents,
      budgets: { chains, runs: runBudgets, ...(daily.isSet && { daily }) },
    }),
    new ToolNode(tools, content.renderedText, mcp),
    new OutputNode(),
    new ExternalNode(directory, chains, contexts, references),
    new ScriptNode(content),
    new SetNode(content.renderedText),
    new WaitNode(),
    new HumanNode(),
    ...others,
  ];
  plugins.refuseTypes(own.map(({ name }) => name));
  return new NodeTypeRegistry([...own, ...plugins.nodes.map(({ defined }) => new PluginNode(defined, secrets))]);
}

/**
 * Returns the node types without the services of executors, to check and describe definitions. Their executors cannot
 * be used.
 * @param modules paths of the operator's plugin modules (`PARLEY_PLUGINS`)
 * @param others node types of other libraries, also created without services
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
    placeholderService(),
    others,
    placeholderService(),
    placeholderService(),
    servers,
  );
}

/** Returns an empty object in place of a service. Use it only for executors that are never run. */
export function placeholderService<T extends object>(): T {
  return {} as T;
}

/**
 * Replacement for the client of MCP servers in the command `parley check`, which has no access to the servers of a
 * service. Every lookup and every call fails.
 */
class AbsentServers extends McpTools {
  override findMcpTools(): never {
    throw new McpServerError('there are no MCP servers here');
  }

  override callMcpTool(): never {
    throw new McpServerError('there are no MCP servers here');
  }
}
