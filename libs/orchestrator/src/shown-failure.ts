import type { Failure } from './failure.js';
import type { RunError } from './node-run.js';

/**
 * A failure as the API shows it: always of a kind. It is `failed` where the log names none, as logs from before there were
 * kinds and ends that a run did not come to by itself.
 */
export function shownFailure(error: RunError): Failure {
  return { kind: 'failed', ...error };
}
