import type { AgentDirectory, CancelOutcome } from '#libs/a2a-client';
import type { CallIdentity } from './agent-call-spec.js';
import { cancelOptions } from './call-options.js';

/**
 * What came of a cancel. `not-started`: the agent got no Message, so there was nothing to cancel; `unknown`: it may have
 * got one, and no Task of it is known that could be canceled.
 */
export type CallCancelOutcome = CancelOutcome | 'not-started' | 'unknown';

export interface CanceledCall {
  taskId?: string;
  outcome: CallCancelOutcome;
}

/** Cancels a Task of an agent that no call is open to, within five seconds. Never throws. */
export async function cancelTask(
  directory: AgentDirectory,
  url: string,
  taskId: string,
  identity: CallIdentity,
): Promise<CancelOutcome> {
  const options = cancelOptions(identity);
  try {
    return await (await directory.client(url, options)).cancel(taskId, options);
  } catch {
    return 'unreachable';
  }
}
