import { ProblemError } from '../problems/problem.js';

/** Which page of a list by name is read: so many after a name, and one more, which says that there are more. */
export interface NamedPage {
  limit: number;
  after: string;
}

/** Which page a query asks for. */
export function namedPage({ pageSize, pageToken = '' }: { pageSize: number; pageToken?: string }): NamedPage {
  return { limit: pageSize + 1, after: pageToken };
}

/** Returns the page among the rows that were read, and the token of the next one; '' where there is none. */
export function cutPage<T extends { name: string }>(
  rows: readonly T[],
  pageSize: number,
): { page: T[]; nextPageToken: string } {
  const page = rows.slice(0, pageSize);
  return { page, nextPageToken: rows.length > pageSize ? (page.at(-1)?.name ?? '') : '' };
}

/** Count of what a tenant keeps in a list, and its limit. */
export interface TenantCount {
  /** Number of entries. */
  count: number;
  most: number;
  /** As in `a tenant has at most 1000 models`. */
  what: string;
}

/** @throws ProblemError 422 where a tenant keeps as many as it may */
export function refuseMoreThan({ count, most, what }: TenantCount): void {
  if (count < most) return;
  const detail = `a tenant has at most ${most} ${what}, and this one has ${count}: delete one first`;
  throw new ProblemError(422, detail, [{ path: '', detail }], 'TOO_MANY');
}
