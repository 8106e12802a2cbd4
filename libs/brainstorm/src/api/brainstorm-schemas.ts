import type { ApiResponseOptions } from '@nestjs/swagger';
import { SEVERITIES } from '../core/canonical-state.js';
import { ROLES } from '../core/role.js';
import { STATUSES } from './brainstorm-list.js';

type Schema = Extract<ApiResponseOptions, { schema: unknown }>['schema'];

const TEXT: Schema = { type: 'string' };
const TEXTS: Schema = { type: 'array', items: TEXT };
const WHOLE: Schema = { type: 'integer' };
const TIME: Schema = { type: 'string', format: 'date-time' };
const CONFIDENCE: Schema = { type: 'number', minimum: 0, maximum: 1 };
const ROLE: Schema = { type: 'string', enum: [...ROLES] };
const STATUS: Schema = { type: 'string', enum: STATUSES };

const list = (properties: Record<string, Schema>): Schema => ({ type: 'array', items: { type: 'object', properties } });

const STATE: Schema = {
  type: 'object',
  properties: {
    idea: TEXT,
    architecture: TEXT,
    execution_plan: list({ title: TEXT, description: TEXT }),
    risks: list({ text: TEXT, severity: { type: 'string', enum: [...SEVERITIES] }, resolved: { type: 'boolean' } }),
    assumptions: TEXTS,
    open_questions: TEXTS,
    metrics: { type: 'object', properties: { confidence: CONFIDENCE } },
    meta: {
      type: 'object',
      properties: {
        iteration: WHOLE,
        agents: list({ agent_id: TEXT, name: TEXT, role: ROLE, provider: TEXT, model: TEXT, skills: TEXTS }),
      },
    },
  },
};

const STOPPED = list({ agent: TEXT, taskId: TEXT, outcome: TEXT });

export const STARTED_SCHEMA: Schema = {
  type: 'object',
  required: ['brainstormId'],
  properties: { brainstormId: { type: 'string', description: 'The A2A taskId of the brainstorm.' } },
};

export const STATUS_SCHEMA: Schema = {
  type: 'object',
  required: ['brainstormId', 'status'],
  properties: { brainstormId: TEXT, status: STATUS, stopped: STOPPED },
};

export const BRAINSTORM_PAGE_SCHEMA: Schema = {
  type: 'object',
  required: ['brainstorms', 'nextPageToken'],
  properties: {
    brainstorms: list({
      brainstormId: TEXT,
      status: STATUS,
      iteration: WHOLE,
      idea: TEXT,
      createdAt: TIME,
      updatedAt: TIME,
    }),
    nextPageToken: { type: 'string', description: 'Empty on the last page.' },
  },
};

export const BRAINSTORM_SCHEMA: Schema = {
  type: 'object',
  required: ['brainstormId', 'status', 'iteration', 'agents', 'state', 'provenance', 'passes'],
  properties: {
    brainstormId: TEXT,
    status: STATUS,
    iteration: { type: 'integer', description: 'Of the last complete pass.' },
    maxIterations: WHOLE,
    agents: list({ agent: TEXT, name: TEXT, role: ROLE, provider: TEXT, model: TEXT, skills: TEXTS }),
    state: STATE,
    provenance: {
      type: 'object',
      description: 'Who last set a part of the state, by its path, as in `risks[0]`.',
      additionalProperties: { type: 'object', properties: { agent: TEXT, role: ROLE, iteration: WHOLE } },
    },
    passes: list({
      iteration: WHOLE,
      agents: list({ agent: TEXT, role: ROLE, status: TEXT, error: TEXT }),
      confidence: CONFIDENCE,
    }),
    convergence: { type: 'string', description: 'Why it has converged, in one sentence.' },
    error: { type: 'object', properties: { agent: TEXT, message: TEXT } },
    stopped: STOPPED,
    createdAt: TIME,
    updatedAt: TIME,
  },
};
