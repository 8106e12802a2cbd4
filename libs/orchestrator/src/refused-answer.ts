import { AgentCallError } from '#libs/a2a-client';
import type { CallFailure } from '#libs/agent-calls';
import { A2A_ERRORS, A2AError, type FieldViolation } from '#libs/protocol';
import type { ChildEnding } from './child-ending.js';
import type { NodeInstance } from './node-run.js';
import { AUTH_REQUIRED } from './run-steps.js';

/** A2A errors by which an agent rejects the content of a Message. Its Task does not change. */
const ERRORS: ReadonlySet<number> = new Set([
  A2A_ERRORS.CONTENT_TYPE_NOT_SUPPORTED.code,
  A2A_ERRORS.INVALID_PARAMS.code,
  A2A_ERRORS.INVALID_REQUEST.code,
]);
/** HTTP status codes with the same meaning: malformed, too large, wrong media type, or not processable. */
const STATUSES: ReadonlySet<number> = new Set([400, 413, 415, 422]);

/**
 * Returns the ending of a call whose answer the agent has rejected: the node keeps asking its question and reports what
 * is wrong with the answer. `undefined` if the call carried no answer, or failed otherwise.
 */
export function askedOnAfter(
  { cause, message }: CallFailure,
  { answered, asks }: NodeInstance,
): ChildEnding | undefined {
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

/** Returns the violations that an agent of this process names; `undefined` for other agents. */
function violationsOf({ cause }: AgentCallError): FieldViolation[] | undefined {
  return cause instanceof A2AError && cause.violations.length > 0 ? [...cause.violations] : undefined;
}
