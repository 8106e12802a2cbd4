import { plainToInstance } from 'class-transformer';
import { ruledMembers } from './read-body.js';
import { malformed, MOST_ENTRIES, type ProblemEntry } from '../problems/problem.js';
import { brokenRules } from './broken-rules.js';

/** A class of query parameters: class-transformer says what their texts stand for, class-validator what is allowed. */
export interface QueryType<T extends object> {
  new (): T;
  /** Makes the error of what is wrong, where that is not `malformed`. */
  readonly exceptionFactory?: (entries: ProblemEntry[]) => Error;
}

/**
 * A request's query as an instance of its class. Parameters that the class does not know are nobody's business.
 * @throws ProblemError 400 with one entry for each parameter at fault
 */
export function readQuery<T extends object>(type: QueryType<T>, query: unknown): T {
  const instance = plainToInstance(type, ruledMembers(type, query as Record<string, unknown>));
  const entries = brokenRules(instance, MOST_ENTRIES);
  if (entries.length === 0) return instance;
  throw type.exceptionFactory?.(entries) ?? malformed(...entries);
}
