/**
 * Reason for the failure of a node or a run. Retries (`retry.on`) depend on this kind, never on the text of a failure.
 * The kinds include every kind of failed call (`CallFailureKind`).
 */
export type FailureKind =
  | 'connect'
  | 'timeout' // also the node's own limit
  | 'server-error'
  | 'overloaded'
  | 'client-error'
  | 'unauthorized'
  | 'credential'
  | 'rpc-error'
  | 'not-found'
  | 'invalid-response'
  | 'refused'
  | 'untrusted-card'
  | 'changed-card'
  | 'aborted'
  | 'failed' // the agent's Task failed
  | 'rejected' // the agent's Task was rejected
  | 'internal'
  | 'rate-limited' // the agent asks to be called less often (HTTP 429)
  | 'invalid-output' // the node's result violates its definition
  | 'cut' // a model's answer was truncated at its token limit
  | 'expression' // an expression of the definition has no value in this run
  | 'deadline' // the run's deadline has passed
  | 'budget-exceeded' // a budget of the run, or of a run above it, is used up
  | 'max-iterations'; // a loop has reached its limit and failed

/** Failure of a node or of a run. `node` is absent if the run failed without a failed node. */
export interface WorkflowFailure {
  kind: FailureKind;
  /** Text that callers may see. It may quote an agent, but never contains internals of this service. */
  message: string;
  node?: string;
  /** Name of the node's instance if it differs from the node's id, for example `draft@2` or `tr[17]`. */
  instance?: string;
}

const ALL: Record<FailureKind, true> = {
  connect: true,
  timeout: true,
  'server-error': true,
  'rate-limited': true,
  overloaded: true,
  failed: true,
  rejected: true,
  'invalid-output': true,
  cut: true,
  expression: true,
  'client-error': true,
  unauthorized: true,
  credential: true,
  'rpc-error': true,
  'not-found': true,
  'invalid-response': true,
  refused: true,
  'untrusted-card': true,
  'changed-card': true,
  aborted: true,
  deadline: true,
  'max-iterations': true,
  'budget-exceeded': true,
  internal: true,
};

/** Kinds of failure that `retry.on` may name: all but `internal`. Kinds that are worth a retry come first. */
export const FAILURE_KINDS: readonly string[] = Object.keys(ALL).filter((kind) => kind !== 'internal');

/** True if a text is a known kind of failure. A log that another version wrote may have other kinds. */
export function isFailureKind(kind: string): kind is FailureKind {
  return Object.hasOwn(ALL, kind);
}

/**
 * Kinds of failure that may be temporary: the default of `retry.on`. Kinds of failure that the caller causes are not in
 * the list.
 */
export const PASSING: readonly string[] = ['connect', 'timeout', 'server-error', 'rate-limited', 'overloaded'];
