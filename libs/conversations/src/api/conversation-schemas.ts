import type { ApiResponseOptions } from '@nestjs/swagger';

type Schema = Extract<ApiResponseOptions, { schema: unknown }>['schema'];

const TEXT: Schema = { type: 'string' };
const NUMBER: Schema = { type: 'integer' };
const TIME: Schema = { type: 'string', format: 'date-time' };

const SUMMARY = {
  conversationId: TEXT,
  requester: TEXT,
  target: TEXT,
  status: { type: 'string', enum: ['active', 'complete'] } satisfies Schema,
  outcome: { type: 'string', enum: ['done', 'skipped', 'max_turns', 'error', 'canceled', 'timeout'] } satisfies Schema,
  paused: { type: 'boolean', description: 'Present while it is paused.' } satisfies Schema,
  maxTurns: NUMBER,
  createdAt: TIME,
  updatedAt: TIME,
};

const REQUIRED = ['conversationId', 'requester', 'target', 'status', 'maxTurns', 'createdAt', 'updatedAt'];

export const CONVERSATION_PAGE_SCHEMA: Schema = {
  type: 'object',
  required: ['conversations', 'nextPageToken'],
  properties: {
    conversations: { type: 'array', items: { type: 'object', required: REQUIRED, properties: SUMMARY } },
    nextPageToken: { type: 'string', description: 'Empty on the last page.' },
  },
};

export const CONVERSATION_SCHEMA: Schema = {
  type: 'object',
  required: [...REQUIRED, 'turns'],
  properties: {
    ...SUMMARY,
    turns: {
      type: 'array',
      items: {
        type: 'object',
        required: ['turn', 'fromAgent', 'toAgent', 'text', 'ts'],
        properties: { turn: NUMBER, fromAgent: TEXT, toAgent: TEXT, text: TEXT, ts: NUMBER },
      },
    },
    error: {
      type: 'object',
      required: ['turn', 'code', 'message', 'retryable'],
      properties: { turn: NUMBER, code: TEXT, message: TEXT, retryable: { type: 'boolean' } },
    },
    announcement: { type: 'string', enum: ['delivered', 'silenced', 'failed'] },
  },
};

export const CONVERSATION_ID_SCHEMA: Schema = {
  type: 'object',
  required: ['conversationId'],
  properties: { conversationId: TEXT },
};
