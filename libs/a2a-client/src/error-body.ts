import type { OutboundAnswer } from '#libs/outbound';
import { FetchedAnswer } from './agent-http.js';
import { requireParsable } from './parsable-json.js';

/** Maximum number of bytes of the decoded body of an error. */
const MAX_ERROR_BYTES = 64 * 1024;
/** Milliseconds in which the body of an error must arrive after its head. */
const LONGEST_MS = 5_000;

/** Reads the body of an agent's error as `responseErrorBody` does; that of a 5xx is discarded. */
export async function errorBody(answer: OutboundAnswer, mostMembers: number): Promise<string> {
  if (answer.status < 500) return readErrorText(answer, mostMembers);
  answer.discardBody();
  return '';
}

/**
 * Reads the body of an error, which only explains its status.
 * @returns an empty text for a body that is longer than 64 KiB, takes longer than five seconds, or has too much JSON to
 * parse
 */
export function responseErrorBody(response: Response, mostMembers: number): Promise<string> {
  return readErrorText(new FetchedAnswer(response), mostMembers);
}

async function readErrorText(answer: OutboundAnswer, mostMembers: number): Promise<string> {
  const late = Promise.withResolvers<string>();
  const timer = setTimeout(late.resolve, LONGEST_MS, '');
  try {
    return requireParsable(await Promise.race([answer.readText(MAX_ERROR_BYTES), late.promise]), mostMembers);
  } catch {
    return '';
  } finally {
    clearTimeout(timer);
    answer.discardBody();
  }
}
