import type { FailureKind } from './failure.js';

const ALL: Record<FailureKind, true> = {
  connect: true,
  timeout: true,
  'server-error': true,
  'rate-limited': true,
  overloaded: true,
  failed: true,
  rejected: true,
  'invalid-output': true,
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
  internal: true,
};

/** Kinds of failure that `retry.on` may name: all but `internal`, with those first that are worth another attempt. */
export const FAILURE_KINDS: readonly string[] = Object.keys(ALL).filter((kind) => kind !== 'internal');

/** True if a text is a kind of failure. The log of another version may have other kinds. */
export function isFailureKind(kind: string): kind is FailureKind {
  return Object.hasOwn(ALL, kind);
}
