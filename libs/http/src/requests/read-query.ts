import { plainToInstance } from 'class-transformer';
import { ruledMembers } from './read-body.js';
import { malformedRequest, MOST_ENTRIES, type ProblemEntry } from '../problems/problem.js';
import { brokenRules } from './broken-rules.js';

/** Class of query parameters: class-transformer converts their texts, class-validator checks them. */
export interface QueryType<T extends object> {
  new (): T;
  /** Creates the error for the entries at fault; absent: a malformed request. */
  readonly exceptionFactory?: (entries: ProblemEntry[]) => Error;
}

/**
 * Reads a request's query as an instance of its class. Unknown parameters are ignored.
 * @throws ProblemError 400 with one entry for each parameter at fault
 */
export function readQuery<T extends object>(type: QueryType<T>, query: unknown): T {
  const instance = plainToInstance(type, ruledMembers(type, query as Record<string, unknown>));
  const entries = brokenRules(instance, MOST_ENTRIES);
  if (entries.length === 0) return instance;
  throw type.exceptionFactory?.(entries) ?? malformedRequest(...entries);
}
