import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { AgentDirectory } from '#libs/a2a-client';
import { CallChainModule, CallChains, type NodeType, NodeTypes } from '#libs/executor';
import { OutboundHttp } from '#libs/outbound';
import { AppConfig } from '#libs/service';
import { AgentNode } from './agent-node.js';
import { InputNode, OutputNode } from './echo-nodes.js';
import { ExternalNode } from './external-node.js';
import { HumanNode } from './human-node.js';
import { EchoLlm } from './llm/echo-llm.js';
import { LlmProvider } from './llm/llm-provider.js';
import { OpenAiLlm } from './llm/openai-llm.js';
import { NodeTypeRegistry } from './node-type-registry.js';
import { ScriptNode } from './script-node.js';
import { SetNode } from './set-node.js';
import { ToolNode } from './tool-node.js';
import { Calculator } from './tools/calculator.js';
import { CurrentTime } from './tools/current-time.js';
import { HttpGet } from './tools/http-get.js';
import { ToolRegistry } from './tools/tool-registry.js';
import { WaitNode } from './wait-node.js';

/** A node type of another library: its class, and the module that exports it. */
export interface OtherNodeType {
  from: DynamicModule;
  type: Type<NodeType>;
}

/** The node types that a workflow may contain. Needs the ground's modules. */
@Module({})
export class NodesModule {
  /**
   * @param agents a module that exports AgentDirectory
   * @param others node types of other libraries, and the modules that export them
   */
  static withAgents(agents: Type | DynamicModule, ...others: OtherNodeType[]): DynamicModule {
    return {
      module: NodesModule,
      imports: [agents, CallChainModule, ...others.map(({ from }) => from)],
      providers: [
        { provide: LlmProvider, inject: [AppConfig, OutboundHttp], useFactory: llmOf },
        { provide: ToolRegistry, inject: [OutboundHttp, AppConfig], useFactory: builtInTools },
        {
          provide: NodeTypes,
          inject: [AppConfig, LlmProvider, ToolRegistry, AgentDirectory, CallChains, ...others.map(({ type }) => type)],
          useFactory: nodeTypes,
        },
      ],
      exports: [NodeTypes, LlmProvider, ToolRegistry],
    };
  }
}

function llmOf({ llm }: AppConfig, http: OutboundHttp): LlmProvider {
  if (llm.baseUrl === undefined) return new EchoLlm();
  return new OpenAiLlm({ ...llm, baseUrl: llm.baseUrl, fetch: http.trusting(llm.baseUrl) });
}

function builtInTools(http: OutboundHttp, { content }: AppConfig): ToolRegistry {
  return new ToolRegistry([
    new CurrentTime(),
    new Calculator(),
    new HttpGet(http.fetch, undefined, content.jsonMembers),
  ]);
}

function nodeTypes(
  { content }: AppConfig,
  llm: LlmProvider,
  tools: ToolRegistry,
  agents: AgentDirectory,
  chains: CallChains,
  ...others: NodeType[]
): NodeTypes {
  return new NodeTypeRegistry([
    new InputNode(),
    new AgentNode(llm),
    new ToolNode(tools, content.renderedText),
    new OutputNode(),
    new ExternalNode(agents, chains),
    new ScriptNode(content),
    new SetNode(content.renderedText),
    new WaitNode(),
    new HumanNode(),
    ...others,
  ]);
}
