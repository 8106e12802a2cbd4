import { AgentCallError, withoutCredentialName } from '#libs/a2a-client';
import type { CallFailure, CallOutcome } from '#libs/durable';
import { A2A_ERRORS, textStart } from '#libs/protocol';

/** Next step after a failed call of a registered agent. */
export type CallDecision =
  /**
   * The agent cannot be reached, and the same call may succeed later. `isSafe` is false if the agent may have received
   * the Message, so that a further call could deliver it twice.
   */
  | { kind: 'away'; isSafe: boolean }
  /**
   * The agent has received the Message, but this process lacked the memory to read any part of the answer, so the id of
   * the agent's Task is unknown.
   */
  | { kind: 'unread' }
  /** The agent no longer knows its Task. */
  | { kind: 'forgotten' }
  /** The agent refused the Message. */
  | { kind: 'refused' }
  | { kind: 'failed' };

/** Failed call of a registered agent, with the facts that `decideAfter` needs to choose the next step. */
export interface FailedRelayCall {
  failure: CallFailure;
  /** True if the agent may have received the Message. */
  isSent: boolean;
  /** True if the agent's Task is known, so that it can be followed. */
  hasTask: boolean;
}

const AWAY: ReadonlySet<string> = new Set(['connect', 'server-error', 'timeout', 'overloaded']);
/** Codes of JSON-RPC errors that show that an agent refused a Message. Over REST, HTTP 400 to 499 show it. */
const REFUSALS: ReadonlySet<number> = new Set(
  (
    [
      'INVALID_PARAMS',
      'INVALID_REQUEST',
      'UNSUPPORTED_OPERATION',
      'CONTENT_TYPE_NOT_SUPPORTED',
      'EXTENSION_SUPPORT_REQUIRED',
    ] as const
  ).map((name) => A2A_ERRORS[name].code),
);
const [CLIENT_ERRORS, SERVER_ERRORS] = [400, 500];
const LONGEST_WORDS = 500;

/** Decides what follows a failed call, by the kind of the failure and never by its text. */
export function decideAfter({ failure, isSent, hasTask }: FailedRelayCall): CallDecision {
  const { kind, rateLimited, timedOut } = failure;
  if (timedOut) return { kind: 'failed' };
  if (kind === 'overloaded' && isSent && !hasTask) return { kind: 'unread' };
  if (AWAY.has(kind) || rateLimited) return { kind: 'away', isSafe: hasTask || !isSent || rateLimited === true };
  if (kind === 'not-found' && hasTask) return { kind: 'forgotten' };
  const code = failure.cause instanceof AgentCallError ? failure.cause.code : undefined;
  const isRefused = code !== undefined && (REFUSALS.has(code) || (code >= CLIENT_ERRORS && code < SERVER_ERRORS));
  const isOfMessage = kind === 'rpc-error' || kind === 'client-error' || kind === 'not-found';
  return { kind: isOfMessage && isRefused ? 'refused' : 'failed' };
}

/**
 * Returns the words of a failure for callers of a registered agent: one line of limited length, without the name of a
 * stored credential.
 */
export function failureWords({ message, cause }: CallFailure): string {
  const said = withoutCredentialName(cause, 'The agent') ?? message;
  return textStart(said.split('\n', 1)[0]!.trim(), LONGEST_WORDS);
}

/** Returns the milliseconds of the pause that an agent asks for by 429 with Retry-After; 0 if it asks for none. */
export function requestedPause(outcome: CallOutcome): number {
  if (outcome.kind !== 'failed' || outcome.failure.rateLimited !== true) return 0;
  return outcome.failure.retryAfter ?? 0;
}
