import { malformed } from '../problems/problem.js';

/** Which page of a list is asked for. */
export interface PageQuery {
  pageSize: number;
  /** The last row of the page before. */
  before?: PagePosition;
}

/** A place in a list whose newest row comes first. */
export interface PagePosition {
  updatedAt: Date;
  taskId: string;
}

type Query = Record<string, unknown>;

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 100;
const TOKEN = /^(\d{1,15})\.([\x21-\x7e]{1,200})$/;

/** @throws ProblemError 400 naming the parameter */
export function readPageQuery(query: Query): PageQuery {
  const token = single(query, 'pageToken');
  return {
    pageSize: pageSizeOf(single(query, 'pageSize')),
    before: token === undefined || token === '' ? undefined : positionOf(token),
  };
}

/** The token of the page after a row. */
export function pageTokenAfter({ updatedAt, taskId }: PagePosition): string {
  return Buffer.from(`${updatedAt.getTime()}.${taskId}`).toString('base64url');
}

/**
 * The number of the event after which a reader wants more: `Last-Event-ID`, which a reader sends that comes back, goes
 * before `?since=`, which is in its address for ever; 0 without either.
 * @throws ProblemError 400
 */
export function readCursor(headers: Record<string, unknown>, query: Query): number {
  const seen = headers['last-event-id'];
  if (seen !== undefined && seen !== '') return sequenceOf('Last-Event-ID', seen);
  const since = query['since'];
  return since === undefined ? 0 : sequenceOf('since', since);
}

/** @throws ProblemError 400 where a parameter is neither `true` nor `false` */
export function readFlag(query: Query, name: string): boolean {
  const value = single(query, name);
  if (value === undefined || value === 'false') return false;
  if (value === 'true') return true;
  throw malformed({ path: name, detail: 'must be true or false' });
}

/** @throws ProblemError 400 where a parameter is given more than once */
export function single(query: Query, name: string): string | undefined {
  const value = query[name];
  if (value === undefined || typeof value === 'string') return value;
  throw malformed({ path: name, detail: 'must be given once' });
}

/** @throws ProblemError 400 where a parameter is none of the words */
export function oneOf<T extends string>(query: Query, name: string, words: readonly T[]): T | undefined {
  const value = single(query, name);
  if (value === undefined || words.includes(value as T)) return value as T | undefined;
  throw malformed({ path: name, detail: `must be one of ${words.join(', ')}` });
}

function pageSizeOf(value: string | undefined): number {
  if (value === undefined) return DEFAULT_PAGE_SIZE;
  const size = /^\d{1,3}$/.test(value) ? Number(value) : 0;
  if (size >= 1 && size <= MAX_PAGE_SIZE) return size;
  throw malformed({ path: 'pageSize', detail: `must be a number from 1 to ${MAX_PAGE_SIZE}` });
}

function positionOf(token: string): PagePosition {
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
