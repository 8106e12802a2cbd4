import { AgentCallError } from '#libs/a2a-client';
import type { CallFailure } from '#libs/agent-calls';
import { A2A_ERRORS, A2AError, type FieldViolation } from '#libs/protocol';
import type { ChildEnding } from './child-ending.js';
import type { NodeRun } from './node-run.js';
import { AUTH_REQUIRED } from './run-steps.js';

/** What an agent answers where it is what stands in the Message that it does not take: its Task is as it was. */
const ERRORS: ReadonlySet<number> = new Set([
  A2A_ERRORS.CONTENT_TYPE_NOT_SUPPORTED.code,
  A2A_ERRORS.INVALID_PARAMS.code,
  A2A_ERRORS.INVALID_REQUEST.code,
]);
/** The same where it is no error of A2A: malformed, too large, of a wrong media type, or not to be processed. */
const STATUSES: ReadonlySet<number> = new Set([400, 413, 415, 422]);

/**
 * How the call of an answer ends that the node's agent has refused: the node asks on what it asked, and says what was wrong
 * with the answer. `undefined` where the call was of no answer, or failed otherwise.
 */
export function askedOnAfter({ cause, message }: CallFailure, { answered, asks }: NodeRun): ChildEnding | undefined {
  if (answered === undefined || !(cause instanceof AgentCallError) || !isRefusal(cause)) return undefined;
  return {
    kind: 'waiting',
    status: answered.wantsAuth ? AUTH_REQUIRED : 'input-required',
    question: answered.question,
    ...(asks && { asks }),
    refused: violationsOf(cause) ?? [{ field: 'answer', description: message }],
  };
}

function isRefusal({ kind, code, status }: AgentCallError): boolean {
  if (kind === 'client-error') return status !== undefined && STATUSES.has(status);
  return code !== undefined && ERRORS.has(code);
}

/** An agent of this process names the fields. */
function violationsOf({ cause }: AgentCallError): FieldViolation[] | undefined {
  return cause instanceof A2AError && cause.violations.length > 0 ? [...cause.violations] : undefined;
}
