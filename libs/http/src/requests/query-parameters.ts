import { malformed } from '../problems/problem.js';
import { PageQuery } from './page-query.js';
import { readQuery } from './read-query.js';

type Query = Record<string, unknown>;

/** @throws ProblemError 400 naming the parameter */
export function readPageQuery(query: Query): Pick<PageQuery, 'pageSize' | 'before'> {
  const { pageSize, before } = readQuery(PageQuery, query);
  return { pageSize, before };
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

function sequenceOf(path: string, value: unknown): number {
  if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);
  throw malformed({ path, detail: 'must be the number of an event' });
}
