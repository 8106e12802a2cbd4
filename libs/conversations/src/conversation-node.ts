import { type AgentExecutor, type NodeProblem, type NodeSpec, type NodeType } from '#libs/executor';
import { firstText, invalidParams } from '#libs/protocol';
import { ConversationExecutor } from './conversation-executor.js';
import { LONGEST_TURN_MS } from './conversation.js';
import { requestProblems, settingsOf } from './conversation-request.js';
import { CONVERSATION_SCHEMA } from './conversation-schema.js';
import type { ConversationServices } from './conversation-services.js';

/**
 * Node type `conversation`: two agents talk. The output is the last text, with a data Part of the outcome and the
 * turns. The node's Task is the conversation, and the Message to it is the requester's first text.
 */
export class ConversationNode implements NodeType {
  readonly name = 'conversation';
  readonly configSchema = CONVERSATION_SCHEMA;

  constructor(private readonly services: ConversationServices) {}

  findProblems(node: NodeSpec): NodeProblem[] {
    const { message } = node.config;
    // Without its own message the node uses the output of its parents.
    const config = { ...node.config, message: message ?? 'any' };
    return requestProblems(config).map(({ field, description }) => {
      return { path: `config.${field}`, detail: `conversation node "${node.id}": ${field} ${description}` };
    });
  }

  createExecutor({ config }: NodeSpec): AgentExecutor {
    return new ConversationExecutor(this.services, ({ message: { parts } }) => {
      const request = { ...config, ...longestTurn(config), message: firstText(parts) ?? '' };
      const problems = requestProblems(request);
      if (problems.length === 0) return settingsOf(request);
      throw invalidParams(...problems.map(({ field, description }) => ({ field, description })));
    });
  }
}

/** Caps the time limit of a turn, for definitions from before that limit had a maximum. */
function longestTurn({ timeoutMs }: NodeSpec['config']): { timeoutMs?: number } {
  return typeof timeoutMs === 'number' && timeoutMs > LONGEST_TURN_MS ? { timeoutMs: LONGEST_TURN_MS } : {};
}
