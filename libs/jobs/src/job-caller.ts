import { createHash } from 'node:crypto';

/** A caller whose work a job is. */
export interface JobCaller {
  tenant: string;
  owner: string;
}

/** Hexadecimal digits that stand for a caller: names of any length and content make an index entry of one size. */
const DIGITS = 32;

/** Returns the flag that the jobs of a caller have in the queue. */
export function callerFlag({ tenant, owner }: JobCaller): string {
  return createHash('sha256').update(`${tenant}/${owner}`).digest('hex').slice(0, DIGITS);
}

/**
 * Returns SQL for the flag of a caller, for statements that enqueue jobs without `Jobs`. Released migrations hold this
 * text, and queued jobs its values: it stays as it is.
 * @param tenant SQL of type text, like `owner`
 */
export function callerFlagSql(tenant: string, owner: string): string {
  return `left(encode(sha256(convert_to(${tenant} || '/' || ${owner}, 'UTF8')), 'hex'), ${DIGITS})`;
}
