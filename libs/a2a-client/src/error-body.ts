import type { OutboundAnswer } from '#libs/outbound';
import { FetchedAnswer } from './agent-http.js';
import { parsable } from './parsable-json.js';

/** Bytes of the body of an error, decoded. */
const MAX_ERROR_BYTES = 64 * 1024;
/** Milliseconds in which the body of an error has to come once its head has come. */
const LONGEST_MS = 5_000;

/** Reads the body of an agent's error as `responseErrorBody` does. That of a 5xx is not read. */
export async function errorBody(answer: OutboundAnswer, mostMembers: number): Promise<string> {
  if (answer.status < 500) return textOf(answer, mostMembers);
  answer.discard();
  return '';
}

/**
 * Reads the body of an error, which only explains its status.
 * @returns an empty text for a body that is longer than 64 KiB, not there after five seconds, or too much JSON to be
 * parsed
 */
export function responseErrorBody(response: Response, mostMembers: number): Promise<string> {
  return textOf(new FetchedAnswer(response), mostMembers);
}

async function textOf(answer: OutboundAnswer, mostMembers: number): Promise<string> {
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
