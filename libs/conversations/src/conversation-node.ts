import { type AgentExecutor, type NodeProblem, type NodeSpec, type NodeType } from '#libs/executor';
import { firstText, invalidParams } from '#libs/protocol';
import { ConversationExecutor } from './conversation-executor.js';
import { LONGEST_TURN_MS } from './conversation.js';
import { requestProblems, settingsOf } from './conversation-request.js';
import { CONVERSATION_SCHEMA } from './conversation-schema.js';
import type { ConversationServices } from './conversation-services.js';

/**
 * `conversation`: two agents talk, and the node's output is the last text, with a data Part of the outcome and the turns.
 * Its Task is the conversation. The Message to it is what the requester says first.
 */
export class ConversationNode implements NodeType {
  readonly name = 'conversation';
  readonly configSchema = CONVERSATION_SCHEMA;

  constructor(private readonly services: ConversationServices) {}

  problems(node: NodeSpec): NodeProblem[] {
    const { message } = node.config;
    // Without a message of its own the node says what its parents said.
    const config = { ...node.config, message: message ?? 'any' };
    return requestProblems(config).map(({ field, description }) => {
      return { path: `config.${field}`, detail: `conversation node "${node.id}": ${field} ${description}` };
    });
  }

  executor({ config }: NodeSpec): AgentExecutor {
    return new ConversationExecutor(this.services, ({ message: { parts } }) => {
      const request = { ...config, ...longestTurn(config), message: firstText(parts) ?? '' };
      const problems = requestProblems(request);
      if (problems.length === 0) return settingsOf(request);
      throw invalidParams(...problems.map(({ field, description }) => ({ field, description })));
    });
  }
}

/** A definition from before there was a longest limit for a turn keeps working with that one. */
function longestTurn({ timeoutMs }: NodeSpec['config']): { timeoutMs?: number } {
  return typeof timeoutMs === 'number' && timeoutMs > LONGEST_TURN_MS ? { timeoutMs: LONGEST_TURN_MS } : {};
}
