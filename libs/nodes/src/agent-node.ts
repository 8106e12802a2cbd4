import type { AgentExecutor, ConfigSchema, NodeProblem, NodeSpec, NodeType } from '#libs/executor';
import { agentConfigSchema, agentProblems, type KnownTools } from './agent/agent-config.js';
import { type AgentNodeServices, ModelExecutor } from './agent/agent-executor.js';

/** `agent`: a model answers the Message, with tools and with memory of earlier turns. */
export class AgentNode implements NodeType {
  readonly name = 'agent';
  readonly configSchema: ConfigSchema;

  constructor(private readonly services: AgentNodeServices) {
    this.configSchema = agentConfigSchema(this.knownTools);
  }

  findProblems(node: NodeSpec): NodeProblem[] {
    return agentProblems(node, this.knownTools);
  }

  private get knownTools(): KnownTools {
    return { builtIn: this.services.tools.builtIn, agents: this.services.agents !== undefined };
  }

  createExecutor(node: NodeSpec): AgentExecutor {
    return new ModelExecutor(node, this.services);
  }
}
