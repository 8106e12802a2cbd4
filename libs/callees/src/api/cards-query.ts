import { malformed, oneOf, single } from '#libs/http';

export const CARD_STATUSES = ['pinned', 'changed'] as const;

/** Which cards are asked for. */
export interface CardsQuery {
  status?: (typeof CARD_STATUSES)[number];
  /** The URL of the last card of the page before. */
  after?: string;
  pageSize: number;
}

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 100;

/** @throws ProblemError 400 naming the parameter */
export function readCardsQuery(query: Record<string, unknown>): CardsQuery {
  const status = oneOf(query, 'status', CARD_STATUSES);
  const token = single(query, 'pageToken');
  return { status, after: token ? urlOf(token) : undefined, pageSize: pageSizeOf(single(query, 'pageSize')) };
}

function urlOf(token: string): string {
  const url = Buffer.from(token, 'base64url').toString();
  if (/^https?:\/\/[\x21-\x7e]+$/.test(url)) return url;
  throw malformed({ path: 'pageToken', detail: 'is not a token of this list' });
}

function pageSizeOf(value: string | undefined): number {
  if (value === undefined || value === '') return DEFAULT_PAGE_SIZE;
  const size = /^\d{1,3}$/.test(value) ? Number(value) : 0;
  if (size >= 1 && size <= MAX_PAGE_SIZE) return size;
  throw malformed({ path: 'pageSize', detail: `must be a number from 1 to ${MAX_PAGE_SIZE}` });
}
