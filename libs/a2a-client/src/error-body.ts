import type { OutboundAnswer } from '#libs/outbound';
import { parsable } from './parsable-json.js';

/** Bytes of the body of an error, decoded. */
const MAX_ERROR_BYTES = 64 * 1024;
/** Milliseconds in which the body of an error has to come once its head has come. */
const LONGEST_MS = 5_000;

/**
 * Reads the body of an error, which only explains its status. Returns nothing for that of a 5xx, and for one that is
 * longer than 64 KiB, not there after five seconds, or too much JSON to be parsed.
 */
export async function errorBody(answer: OutboundAnswer, mostMembers: number): Promise<string> {
  if (answer.status >= 500) {
    answer.discard();
    return '';
  }
  const late = Promise.withResolvers<string>();
  const timer = setTimeout(late.resolve, LONGEST_MS, '');
  try {
    return parsable(await Promise.race([answer.text(MAX_ERROR_BYTES), late.promise]), mostMembers);
  } catch {
    return '';
  } finally {
    clearTimeout(timer);
    answer.discard();
  }
}
