import { OutboundTooLongError } from '#libs/http-client';
import { A2A_ERRORS } from '#libs/protocol';
import { AgentCallError, type AgentCallFailure } from './agent-call-error.js';
import type { CancelOutcome } from './agent-client.js';
import type { CallDeadlines } from './call-deadlines.js';

/** Kinds of failures that mean a lost connection or a failure inside the agent: its Task may still continue. */
const LOST: readonly AgentCallFailure[] = ['connect', 'server-error'];
/** Kinds of failures that make the client open the stream of an existing Task again. */
export const FOLLOWED: readonly AgentCallFailure[] = [...LOST, 'timeout'];

/**
 * True if a call failed because its connection was lost or its agent failed internally, and the call is not over yet.
 * @param kinds kinds of failures that count as a lost connection
 */
export function isLostConnection(
  error: unknown,
  limits: CallDeadlines,
  kinds: readonly AgentCallFailure[] = LOST,
): error is AgentCallError {
  return !limits.over && error instanceof AgentCallError && kinds.includes(error.kind);
}

/**
 * True if the agent answered, but with an error of its protocol or with an invalid value. The connection works then, so
 * the caller may read the Task by GetTask. False for an answer that exceeded its size limit, since GetTask would return
 * the same content.
 */
export function isAnswerFailure(error: unknown): error is AgentCallError {
  if (error instanceof AgentCallError && error.cause instanceof OutboundTooLongError) return false;
  return error instanceof AgentCallError && (error.kind === 'rpc-error' || error.kind === 'invalid-response');
}

/**
 * True for a temporary failure, after which a Task is polled again: a lost connection or a rate limit.
 * @param kinds kinds of failures that count as a lost connection
 */
export function isPassing(
  error: unknown,
  limits: CallDeadlines,
  kinds: readonly AgentCallFailure[] = LOST,
): error is AgentCallError {
  return (
    isLostConnection(error, limits, kinds) || (!limits.over && error instanceof AgentCallError && error.rateLimited)
  );
}

/**
 * True if the agent rejected a subscription, by an error of its protocol or by HTTP 4xx (other than 401, 403 and 429).
 * Some agents have no stream for a Task that has ended or waits (section 3.1.6), others have no streams at all.
 */
function isUnsupported(error: unknown): boolean {
  if (!(error instanceof AgentCallError) || error.rateLimited) return false;
  return error.kind === 'rpc-error' || error.kind === 'client-error';
}

/**
 * True if an error reports that the agent has no stream for a Task (`isUnsupported`), or does not know the Task. Some
 * agents also answer "unknown Task" for a Task that has ended; only GetTask shows if they still know it.
 */
export function isWithoutStream(error: unknown): boolean {
  return isUnsupported(error) || (error instanceof AgentCallError && error.kind === 'not-found');
}

/**
 * Returns `undefined` for an error of GetTask by which an agent reports that it has no GetTask or does not store the
 * Task.
 * @throws any other error
 */
export function ignoreUnstored(error: unknown): undefined {
  if (isWithoutStream(error)) return undefined;
  throw error;
}

/**
 * Returns the outcome of a CancelTask that failed: `refused` if the agent answered with an error or an invalid value,
 * `unreachable` after a 429 (rate limit) or any other failure.
 */
export function cancelOutcome(error: AgentCallError): CancelOutcome {
  if (error.rateLimited) return 'unreachable';
  switch (error.kind) {
    case 'rpc-error':
    case 'not-found':
    case 'client-error':
    case 'unauthorized':
    case 'invalid-response':
      return 'refused';
    default:
      return 'unreachable';
  }
}

/** HTTP statuses of servers that do not have the called operation. */
const NO_OPERATION: ReadonlySet<number | undefined> = new Set([400, 404, 405, 501]);

/** True if the error says that the agent does not have the called operation. */
export function isMissingOperation(error: unknown): error is AgentCallError {
  if (!(error instanceof AgentCallError)) return false;
  if (error.code === A2A_ERRORS.METHOD_NOT_FOUND.code) return true;
  return (error.kind === 'client-error' || error.kind === 'server-error') && NO_OPERATION.has(error.status);
}

/** Returns the failure of a GetTask call to an agent that does not have GetTask, with a message that says so. */
export function unansweredGetTask(cause: AgentCallError): AgentCallError {
  const { kind, message, code, status } = cause;
  const said = message.includes('GetTask') ? message : `the agent does not answer GetTask: ${message}`;
  return new AgentCallError(kind, said, { code, status, cause });
}
