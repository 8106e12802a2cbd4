import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { AgentDirectory } from '#libs/a2a-client';
import { RemoteContexts } from '#libs/agent-calls';
import {
  BrainstormEntries,
  CallBudgets,
  CallChainModule,
  CallChains,
  ConversationEntries,
  type NodeType,
  NodeTypes,
} from '#libs/executor';
import { McpTools } from '#libs/mcp-client';
import { Models } from '#libs/models';
import { OutboundHttp } from '#libs/outbound';
import { SecretBox } from '#libs/postgres';
import { AgentReferences, AgentTalks } from '#libs/process';
import { AppConfig } from '#libs/service';
import { TasksModule, TaskStore } from '#libs/tasks';
import { AgentMemory } from './agent/agent-memory.js';
import { type AgentTools, BuiltInTools } from './agent/agent-tools.js';
import type { AgentToolServices } from './agent/called-agent-services.js';
import { ToolsWithServers } from './agent/mcp-agent-tools.js';
import { AgentNode } from './agent-node.js';
import { InputNode, OutputNode } from './echo-nodes.js';
import { ExternalNode } from './external-node.js';
import { HumanNode } from './human-node.js';
import { NodeTypeRegistry } from './node-type-registry.js';
import { PluginHandlers } from './plugins/plugin-handlers.js';
import { PluginNode } from './plugins/plugin-node.js';
import { PluginTool } from './plugins/plugin-tool.js';
import { Plugins } from './plugins/plugins.js';
import { ScriptNode } from './script-node.js';
import { SetNode } from './set-node.js';
import { ToolNode } from './tool-node.js';
import { Calculator } from './tools/calculator.js';
import { CurrentTime } from './tools/current-time.js';
import { HttpGet } from './tools/http-get.js';
import { ToolRegistry } from './tools/tool-registry.js';
import { WaitNode } from './wait-node.js';

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

export function builtInTools(
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

export function nodeTypes(
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
