import { hasMoreMembers, tooManyMembers } from '#libs/http';
import { refuseUnfitText, UnfitJson } from '#libs/protocol';
import { AgentCallError } from './agent-call-error.js';

/** Maximum nesting of an answer's JSON; deeper values break recursive readers and writers. */
const DEEPEST_ANSWER = 500;

/**
 * Returns a text after checking that its JSON is not too large to parse and can be written as it was read.
 * @throws AgentCallError `invalid-response`
 */
export function requireParsable(text: string, mostMembers: number): string {
  if (hasMoreMembers(text, mostMembers))
    throw new AgentCallError('invalid-response', `the answer ${tooManyMembers(mostMembers)}`);
  try {
    refuseUnfitText(text, DEEPEST_ANSWER);
  } catch (cause) {
    if (!(cause instanceof UnfitJson)) throw cause;
    throw new AgentCallError('invalid-response', `the agent's answer is not A2A: ${cause.message}`, { cause });
  }
  return text;
}
