import { createHash } from 'node:crypto';

/** Caller for whom a job runs. */
export interface JobCaller {
  tenant: string;
  owner: string;
}

/**
 * Number of hexadecimal digits in a caller's flag. The hash keeps index entries at one size for names of any length.
 */
const DIGITS = 32;

/** Returns the flag of a caller's jobs in the queue. */
export function callerFlag({ tenant, owner }: JobCaller): string {
  return createHash('sha256').update(`${tenant}/${owner}`).digest('hex').slice(0, DIGITS);
}

/**
 * Returns SQL that computes a caller's flag, for statements that enqueue jobs without `Jobs`. The result must never
 * change: released migrations contain this text, and queued jobs contain its values.
 * @param tenant SQL of type text, like `owner`
 */
export function callerFlagSql(tenant: string, owner: string): string {
  return `left(encode(sha256(convert_to(${tenant} || '/' || ${owner}, 'UTF8')), 'hex'), ${DIGITS})`;
}
