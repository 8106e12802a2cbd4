import type { ApiResponseOptions } from '@nestjs/swagger';

type Schema = Extract<ApiResponseOptions, { schema: unknown }>['schema'];

const TEXT = { type: 'string' } as const;
const TIME = { type: 'string', format: 'date-time' } as const;
const FLAG = { type: 'boolean' } as const;
const OBJECT = { type: 'object' } as const;
const STATUS = { type: 'string', enum: ['pinned', 'changed'] };

const CARD_MEMBERS = {
  id: TEXT,
  url: TEXT,
  name: TEXT,
  status: STATUS,
  blocked: FLAG,
  hash: TEXT,
  seenHash: TEXT,
  firstSeenAt: TIME,
  lastSeenAt: TIME,
  acceptedAt: TIME,
  acceptedBy: TEXT,
};
const REQUIRED = ['id', 'url', 'name', 'status', 'blocked', 'hash', 'firstSeenAt', 'lastSeenAt'];

export const CARD_PAGE_SCHEMA: Schema = {
  type: 'object',
  required: ['cards', 'nextPageToken'],
  properties: {
    cards: { type: 'array', items: { type: 'object', required: REQUIRED, properties: CARD_MEMBERS } },
    nextPageToken: TEXT,
  },
};

export const CARD_DETAIL_SCHEMA: Schema = {
  type: 'object',
  required: [...REQUIRED, 'card', 'changes'],
  properties: {
    ...CARD_MEMBERS,
    card: { ...OBJECT, nullable: true },
    seenCard: {
      ...OBJECT,
      nullable: true,
      description: 'The card that waits to be accepted; null: there is none any more.',
    },
    changes: {
      type: 'array',
      items: {
        type: 'object',
        required: ['from', 'to', 'significant', 'changes', 'times', 'firstSeenAt', 'lastSeenAt'],
        properties: {
          from: TEXT,
          to: TEXT,
          significant: FLAG,
          changes: { type: 'array', items: OBJECT, description: 'path, kind, significant, before?, after?' },
          times: { type: 'integer' },
          firstSeenAt: TIME,
          lastSeenAt: TIME,
          acceptedAt: TIME,
          acceptedBy: TEXT,
        },
      },
    },
  },
};

export const CARD_PREVIEW_SCHEMA: Schema = {
  type: 'object',
  required: ['url', 'problems'],
  properties: {
    url: TEXT,
    cardUrl: TEXT,
    version: { type: 'string', enum: ['1.0', '0.3'] },
    card: { ...OBJECT, description: 'The AgentCard, in the form of A2A 1.0; absent where none could be read.' },
    signature: {
      ...OBJECT,
      description: 'state (valid, invalid, untrusted, unsigned) and signatures, one report each.',
    },
    pin: { ...OBJECT, description: 'id, status and blocked of what is pinned; same: whether the card is that.' },
    problems: {
      type: 'array',
      items: {
        type: 'object',
        required: ['level', 'path', 'detail'],
        properties: { level: { type: 'string', enum: ['error', 'warning'] }, path: TEXT, detail: TEXT },
      },
    },
  },
};
