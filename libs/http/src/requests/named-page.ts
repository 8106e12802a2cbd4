import { ProblemError } from '../problems/problem.js';

/**
 * Page of a list sorted by name: `limit` entries after a name. `limit` includes one extra entry, which shows that there
 * are more.
 */
export interface NamedPage {
  limit: number;
  after: string;
}

/** Returns the page that a query requests. */
export function namedPage({ pageSize, pageToken = '' }: { pageSize: number; pageToken?: string }): NamedPage {
  return { limit: pageSize + 1, after: pageToken };
}

/** Returns the page of the rows read, and the token of the next page; '' if there is none. */
export function cutPage<T extends { name: string }>(
  rows: readonly T[],
  pageSize: number,
): { page: T[]; nextPageToken: string } {
  const page = rows.slice(0, pageSize);
  return { page, nextPageToken: rows.length > pageSize ? (page.at(-1)?.name ?? '') : '' };
}

/** Number of a tenant's entries in a list, and its limit. */
export interface TenantCount {
  /** Number of entries. */
  count: number;
  most: number;
  /** Plural noun, as in `a tenant has at most 1000 models`. */
  what: string;
}

/** Rejects another entry at the limit. @throws ProblemError 422 */
export function refuseMoreThan({ count, most, what }: TenantCount): void {
  if (count < most) return;
  const detail = `a tenant has at most ${most} ${what}, and this one has ${count}: delete one first`;
  throw new ProblemError(422, detail, [{ path: '', detail }], 'TOO_MANY');
}
