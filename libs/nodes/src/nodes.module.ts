import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { AgentDirectory } from '#libs/a2a-client';
import { AgentReferences, AgentTalks, RemoteContexts } from '#libs/durable';
import {
  BrainstormEntries,
  CallBudgets,
  CallChainModule,
  CallChains,
  ConversationEntries,
  type NodeType,
  NodeTypes,
} from '#libs/executor';
import { OutboundHttp } from '#libs/http-client';
import { McpServerError, McpTools } from '#libs/mcp-client';
import { Models } from '#libs/models';
import { SecretBox } from '#libs/postgres';
import { AppConfig, DEFAULT_CONTENT_LIMITS } from '#libs/service';
import { TasksModule, TaskStore } from '#libs/tasks';
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

/** Node type of another library: its class, and the module that exports it. */
export interface OtherNodeType {
  from: DynamicModule;
  type: Type<NodeType>;
}

/** Provides the node types that a workflow may contain. Requires the ground's modules. */
@Module({})
export class NodesModule {
  /**
   * @param agents module that exports AgentDirectory
   * @param models module that exports Models
   * @param others node types of other libraries, and the modules that export them
   */
  static withAgents(
    agents: Type | DynamicModule,
    models: Type | DynamicModule,
    ...others: OtherNodeType[]
  ): DynamicModule {
    return {
      module: NodesModule,
      imports: [agents, models, CallChainModule, TasksModule, ...others.map(({ from }) => from)],
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
            // Absent in a stand-alone agent.
            { token: McpTools, optional: true },
            { token: RemoteContexts, optional: true },
            // Exported by the modules of other node types.
            { token: AgentReferences, optional: true },
            { token: CallBudgets, optional: true },
            { token: AgentTalks, optional: true },
            ...others.map(({ type }) => type),
          ],
          useFactory: nodeTypes,
        },
      ],
      // Exports the modules of other node types as well, for checks of definitions.
      exports: [NodeTypes, ToolRegistry, ...others.map(({ from }) => from)],
    };
  }
}

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
  agents: AgentDirectory,
  chains: CallChains,
  secrets: SecretBox,
  plugins: Plugins,
  mcp: McpTools | undefined,
  contexts: RemoteContexts | undefined,
  references: AgentReferences | undefined,
  budgets: CallBudgets | undefined,
  talks: AgentTalks | undefined,
  ...others: NodeType[]
): NodeTypes {
  const entries = new ConversationEntries(chains);
  const calledAgents: AgentToolServices | undefined = references && {
    directory: agents,
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
      ...(calledAgents && { agents: calledAgents }),
    }),
    new ToolNode(tools, content.renderedText, mcp),
    new OutputNode(),
    new ExternalNode(agents, chains, contexts),
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
