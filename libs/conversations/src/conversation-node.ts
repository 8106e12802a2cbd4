import type { AgentExecutor, ConfigSchema, NodeProblem, NodeSpec, NodeType } from '#libs/agents';
import { firstText, invalidParams } from '#libs/protocol';
import type { ConversationServices } from './conversation-calls.js';
import { ConversationExecutor } from './conversation-executor.js';
import {
  CALLED_AGENTS,
  CREDENTIAL_NAME,
  LONGEST_REFERENCE,
  requestProblems,
  settingsOf,
} from './conversation-request.js';
import { DEFAULT_MAX_TURNS, DEFAULT_TURN_MS, INSTRUCTIONS, LONGEST_TURN_MS, MOST_TURNS } from './conversation.js';

const REFERENCE = { type: ['string', 'null'], pattern: '\\S', maxLength: LONGEST_REFERENCE };

/** JSON Schema of the config of a `conversation` node. `requestProblems` refuses what the schema refuses. */
const CONVERSATION_SCHEMA: ConfigSchema = {
  type: 'object',
  properties: {
    requester: {
      ...REFERENCE,
      description: 'Requester: name, path or URL of an agent. If absent, the target gets no reply.',
    },
    target: { ...REFERENCE, type: 'string', description: 'Target: name, path or URL of an agent.' },
    message: {
      type: ['string', 'null'],
      pattern: '\\S',
      description: 'First message; default: the answers of the nodes before it. May contain {{references}}.',
    },
    maxTurns: {
      type: ['integer', 'null'],
      minimum: 0,
      maximum: MOST_TURNS,
      default: DEFAULT_MAX_TURNS,
      description: 'Maximum number of turns after the first answer.',
    },
    timeoutMs: {
      type: ['integer', 'null'],
      minimum: 1,
      maximum: LONGEST_TURN_MS,
      default: DEFAULT_TURN_MS,
      description: 'Time limit of one turn, in milliseconds.',
    },
    announce: { ...REFERENCE, description: 'Agent that receives the last text: its name, path or URL.' },
    instructions: {
      enum: [...INSTRUCTIONS, null],
      default: 'none',
      description:
        "Prompt of a turn for remote agents without the extension in their card: text (a text Part before the other side's text) or none.",
    },
    auth: {
      type: ['object', 'null'],
      propertyNames: { enum: [...CALLED_AGENTS] },
      additionalProperties: { type: ['string', 'null'], pattern: CREDENTIAL_NAME.source },
      description: 'Names of stored credentials for agents named by URL.',
    },
  },
  required: ['target'],
};

/**
 * Node type `conversation`: two agents talk. The node's Task is the conversation. The text of the Message to the node
 * is the requester's first text; the output is the last text, with a data Part of the outcome and the turns.
 */
export class ConversationNode implements NodeType {
  readonly name = 'conversation';
  readonly configSchema = CONVERSATION_SCHEMA;

  constructor(private readonly services: ConversationServices) {}

  findProblems(node: NodeSpec): NodeProblem[] {
    const { message } = node.config;
    // A node without a message uses the output of its parents.
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

/**
 * Returns the largest allowed time limit of a turn if the config has a larger one; otherwise an empty object. Such
 * configs were saved before the time limit had a maximum.
 */
function longestTurn({ timeoutMs }: NodeSpec['config']): { timeoutMs?: number } {
  return typeof timeoutMs === 'number' && timeoutMs > LONGEST_TURN_MS ? { timeoutMs: LONGEST_TURN_MS } : {};
}
