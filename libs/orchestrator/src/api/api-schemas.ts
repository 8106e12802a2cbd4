import type { ApiResponseOptions } from '@nestjs/swagger';

type Schema = Extract<ApiResponseOptions, { schema: unknown }>['schema'];

const TEXT: Schema = { type: 'string' };
const TIME: Schema = { type: 'string', format: 'date-time' };
const OBJECT: Schema = { type: 'object', additionalProperties: true };
const ARTIFACTS: Schema = { type: 'array', items: OBJECT, description: 'A2A Artifacts.' };
const RUN_STATUS: Schema = { type: 'string', enum: ['running', 'input-required', 'completed', 'failed', 'canceled'] };

const CHILDREN: Schema = {
  type: 'array',
  description: 'What became of each remote Task when the run was canceled.',
  items: {
    type: 'object',
    required: ['node', 'agentUrl', 'outcome'],
    properties: {
      node: TEXT,
      agentUrl: TEXT,
      taskId: TEXT,
      outcome: { type: 'string', enum: ['acknowledged', 'refused', 'unreachable', 'not-started', 'unknown'] },
    },
  },
};

const NODE_REQUIRED = ['status', 'attempts', 'agentUrl', 'artifacts'];
const NODE_PROPERTIES = {
  status: {
    type: 'string',
    enum: ['pending', 'running', 'input-required', 'completed', 'failed', 'canceled', 'skipped'],
  } satisfies Schema,
  attempts: { type: 'integer' } satisfies Schema,
  taskId: TEXT,
  agentUrl: TEXT,
  waitsFor: {
    type: 'object',
    description: 'While the node is `input-required`: what its agent waits for, and what it says.',
    required: ['state', 'message'],
    properties: { state: { type: 'string', enum: ['input-required', 'auth-required'] }, message: TEXT },
  } satisfies Schema,
  artifacts: ARTIFACTS,
  error: TEXT,
  startedAt: TIME,
  finishedAt: TIME,
};
const NODE: Schema = { type: 'object', required: NODE_REQUIRED, properties: NODE_PROPERTIES };

export const NODE_DETAIL_SCHEMA: Schema = {
  type: 'object',
  required: ['id', 'type', ...NODE_REQUIRED],
  properties: {
    id: TEXT,
    type: TEXT,
    ...NODE_PROPERTIES,
    input: { type: 'array', items: OBJECT, description: 'A2A Parts; absent while the node was never started.' },
  },
};

const SUMMARY = {
  runId: { type: 'string', description: 'The A2A taskId of the run.' } satisfies Schema,
  workflow: TEXT,
  status: RUN_STATUS,
  contextId: TEXT,
  inputs: OBJECT,
  result: ARTIFACTS,
  error: { type: 'object', required: ['message'], properties: { node: TEXT, message: TEXT } } satisfies Schema,
  createdAt: TIME,
  updatedAt: TIME,
};

const SUMMARY_REQUIRED = ['runId', 'workflow', 'status', 'contextId', 'inputs', 'createdAt', 'updatedAt'];

/** A run without its nodes. */
export const RUN_PAGE_SCHEMA: Schema = {
  type: 'object',
  required: ['runs', 'nextPageToken'],
  properties: {
    runs: { type: 'array', items: { type: 'object', required: SUMMARY_REQUIRED, properties: SUMMARY } },
    nextPageToken: { type: 'string', description: 'Empty on the last page.' },
  },
};

export const RUN_SCHEMA: Schema = {
  type: 'object',
  required: [...SUMMARY_REQUIRED, 'nodes', 'state', 'artifacts'],
  properties: {
    ...SUMMARY,
    children: CHILDREN,
    nodes: { type: 'object', additionalProperties: NODE },
    state: { ...OBJECT, description: 'The inputs, and the text of each node.' },
    artifacts: { type: 'object', additionalProperties: ARTIFACTS },
  },
};

export const RUN_STARTED_SCHEMA: Schema = { type: 'object', required: ['runId'], properties: { runId: TEXT } };

export const CANCEL_SCHEMA: Schema = {
  type: 'object',
  required: ['runId', 'status', 'children'],
  properties: { runId: TEXT, status: RUN_STATUS, children: CHILDREN },
};

export const CHECK_SCHEMA: Schema = {
  type: 'object',
  required: ['problems'],
  properties: {
    problems: {
      type: 'array',
      items: {
        type: 'object',
        required: ['severity', 'code', 'detail', 'path'],
        properties: {
          severity: { type: 'string', enum: ['error', 'warning'] },
          code: TEXT,
          detail: TEXT,
          path: { type: 'string', description: 'For example `nodes[1].config.prompt`.' },
          node: { type: 'string', description: 'The id of the node that it is about.' },
          edge: { type: 'integer', description: 'The place of the edge that it is about.' },
          offset: { type: 'integer', description: 'Where in the text it begins, in UTF-16 code units.' },
        },
      },
    },
  },
};

export const REVISIONS_SCHEMA: Schema = {
  type: 'object',
  required: ['revisions', 'nextPageToken'],
  properties: {
    revisions: {
      type: 'array',
      items: { type: 'object', required: ['revision', 'savedAt'], properties: { revision: TEXT, savedAt: TIME } },
    },
    nextPageToken: { type: 'string', description: 'Empty on the last page.' },
  },
};
