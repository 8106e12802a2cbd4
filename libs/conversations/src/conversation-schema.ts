import type { ConfigSchema } from '#libs/executor';
import { DEFAULT_MAX_TURNS, DEFAULT_TURN_MS, INSTRUCTIONS, LONGEST_TURN_MS, MOST_TURNS } from './conversation.js';
import { CALLED_AGENTS, CREDENTIAL_NAME } from './conversation-request.js';
import { LONGEST_REFERENCE } from './conversation-rules.js';

const REFERENCE = { type: ['string', 'null'], pattern: '\\S', maxLength: LONGEST_REFERENCE };

/** JSON Schema of a conversation's config. The check of requests refuses what the schema refuses. */
export const CONVERSATION_SCHEMA: ConfigSchema = {
  type: 'object',
  properties: {
    requester: {
      ...REFERENCE,
      description: 'Who asks: the name, the path or the URL of an agent. Absent: nobody answers the target.',
    },
    target: { ...REFERENCE, type: 'string', description: 'Who is asked: the name, the path or the URL of an agent.' },
    message: {
      type: ['string', 'null'],
      pattern: '\\S',
      description: 'What is said first; absent: what the nodes before it answered. May have {{references}}.',
    },
    maxTurns: {
      type: ['integer', 'null'],
      minimum: 0,
      maximum: MOST_TURNS,
      default: DEFAULT_MAX_TURNS,
      description: 'How many turns follow the first answer.',
    },
    timeoutMs: {
      type: ['integer', 'null'],
      minimum: 1,
      maximum: LONGEST_TURN_MS,
      default: DEFAULT_TURN_MS,
      description: 'Milliseconds that an agent has for one turn.',
    },
    announce: { ...REFERENCE, description: 'Who is told the last text: the name, the path or the URL of an agent.' },
    instructions: {
      enum: [...INSTRUCTIONS, null],
      default: 'none',
      description:
        "How an agent elsewhere, unless its card declares the extension for it, gets the prompt of its turn: text (a text Part before the other side's text) or none.",
    },
    auth: {
      type: ['object', 'null'],
      propertyNames: { enum: [...CALLED_AGENTS] },
      additionalProperties: { type: ['string', 'null'], pattern: CREDENTIAL_NAME.source },
      description: 'The names of stored credentials for those agents that are named by their URL.',
    },
  },
  required: ['target'],
};
