import type { TaskState } from '#libs/protocol';
import type { RunStatus } from '../node-run.js';
import { WORKFLOW_NAME } from '../workflow-problems.js';
import { malformed } from './problem.js';

/** The states of a run's Task that a word for a run stands for. */
export const STATES_OF: Record<RunStatus, readonly TaskState[]> = {
  running: ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'],
  'input-required': ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'],
  completed: ['TASK_STATE_COMPLETED'],
  failed: ['TASK_STATE_FAILED', 'TASK_STATE_REJECTED'],
  canceled: ['TASK_STATE_CANCELED'],
};

/** Which runs are asked for. */
export interface RunQuery {
  workflow?: string;
  status?: RunStatus;
  pageSize: number;
  /** The last run of the page before. */
  before?: { updatedAt: Date; taskId: string };
}

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 100;
const TOKEN = /^(\d{1,15})\.([\x21-\x7e]{1,200})$/;

/** @throws ProblemError 400 naming the parameter */
export function readRunQuery(query: Record<string, unknown>): RunQuery {
  const workflow = single(query, 'workflow');
  if (workflow !== undefined && !WORKFLOW_NAME.test(workflow)) {
    throw malformed({ path: 'workflow', detail: 'is not a name of a workflow' });
  }
  const token = single(query, 'pageToken');
  return {
    workflow,
    status: statusOf(single(query, 'status')),
    pageSize: pageSizeOf(single(query, 'pageSize')),
    before: token === undefined || token === '' ? undefined : positionOf(token),
  };
}

/** The token of the page after a run. */
export function pageTokenAfter(position: { updatedAt: Date; taskId: string }): string {
  return Buffer.from(`${position.updatedAt.getTime()}.${position.taskId}`).toString('base64url');
}

/**
 * The sequence after which a reader wants events: `Last-Event-ID`, which a reader sends that comes back, goes before
 * `?since=`, which is in its address for ever; 0 without either.
 * @throws ProblemError 400
 */
export function readCursor(headers: Record<string, unknown>, query: Record<string, unknown>): number {
  const seen = headers['last-event-id'];
  if (seen !== undefined && seen !== '') return sequenceOf('Last-Event-ID', seen);
  const since = query['since'];
  return since === undefined ? 0 : sequenceOf('since', since);
}

/** @throws ProblemError 400 where a parameter is neither `true` nor `false` */
export function readFlag(query: Record<string, unknown>, name: string): boolean {
  const value = single(query, name);
  if (value === undefined || value === 'false') return false;
  if (value === 'true') return true;
  throw malformed({ path: name, detail: 'must be true or false' });
}

function single(query: Record<string, unknown>, name: string): string | undefined {
  const value = query[name];
  if (value === undefined || typeof value === 'string') return value;
  throw malformed({ path: name, detail: 'must be given once' });
}

function statusOf(value: string | undefined): RunStatus | undefined {
  if (value === undefined || Object.hasOwn(STATES_OF, value)) return value as RunStatus | undefined;
  throw malformed({ path: 'status', detail: `must be one of ${Object.keys(STATES_OF).join(', ')}` });
}

function pageSizeOf(value: string | undefined): number {
  if (value === undefined) return DEFAULT_PAGE_SIZE;
  const size = /^\d{1,3}$/.test(value) ? Number(value) : 0;
  if (size >= 1 && size <= MAX_PAGE_SIZE) return size;
  throw malformed({ path: 'pageSize', detail: `must be a number from 1 to ${MAX_PAGE_SIZE}` });
}

function positionOf(token: string): { updatedAt: Date; taskId: string } {
  const match = TOKEN.exec(Buffer.from(token, 'base64url').toString());
  const updatedAt = new Date(Number(match?.[1]));
  if (!match?.[2] || Number.isNaN(updatedAt.getTime())) {
    throw malformed({ path: 'pageToken', detail: 'is not a token of this list' });
  }
  return { updatedAt, taskId: match[2] };
}

function sequenceOf(path: string, value: unknown): number {
  if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);
  throw malformed({ path, detail: 'must be the number of an event' });
}
