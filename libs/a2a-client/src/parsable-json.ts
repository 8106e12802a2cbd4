import { hasMoreMembers, tooManyMembers } from '#libs/http';
import { refuseUnfitText, UnfitJson } from '#libs/protocol';
import { AgentCallError } from './agent-call-error.js';

/** Levels of an answer's JSON that may lie in each other; what is deeper breaks readers and writers that recurse. */
const DEEPEST_ANSWER = 500;

/**
 * A text whose JSON is not too much to be parsed, and is written as it was read.
 * @throws AgentCallError `invalid-response`
 */
export function parsable(text: string, mostMembers: number): string {
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
