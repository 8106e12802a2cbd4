import type { AgentDirectory, CancelOutcome } from '#libs/a2a-client';
import type { CallIdentity } from './agent-call-spec.js';
import { cancelOptions } from './call-options.js';

/**
 * Outcome of a cancel. `not-started`: the agent received no Message, so there was nothing to cancel. `unknown`: it may
 * have received one, but no Task of it is known.
 */
export type CallCancelOutcome = CancelOutcome | 'not-started' | 'unknown';

export interface CanceledCall {
  taskId?: string;
  outcome: CallCancelOutcome;
}

/** Cancels a Task of an agent to which no call is open, within five seconds. Never throws. */
export async function cancelTask(
  directory: AgentDirectory,
  url: string,
  taskId: string,
  identity: CallIdentity,
): Promise<CancelOutcome> {
  const options = cancelOptions(identity);
  try {
    return await (await directory.resolveClient(url, options)).cancelTask(taskId, options);
  } catch {
    return 'unreachable';
  }
}
