import { A2AError } from '#libs/protocol';

/** What all conversations of one root may use together, whoever started them in between. */
export interface Budget {
  /** Turns that agents are asked for. */
  turns: number;
  /** Calls to agents: turns and announcements, also those that failed. */
  calls: number;
  /** From the first call on, paused or not. */
  seconds: number;
}

export const BUDGET: Budget = { turns: 200, calls: 250, seconds: 24 * 60 * 60 };

/** Counts what the conversations of a root have used. */
export abstract class ConversationBudgets {
  /** Counts one call, and gives all that was used with it. */
  abstract spend(root: string, call: 'turn' | 'announcement'): Promise<Budget>;
}

/**
 * Refuses a call that is beyond the budget.
 * @throws A2AError UNSUPPORTED_OPERATION with the reason `BUDGET_EXCEEDED`
 */
export function refuseBeyond(used: Budget, budget: Budget = BUDGET): void {
  const what = (Object.keys(budget) as (keyof Budget)[]).find((it) => used[it] > budget[it]);
  if (what === undefined) return;
  const message = `BUDGET_EXCEEDED: everything that began with this conversation has used its ${budget[what]} ${what}`;
  throw new A2AError('UNSUPPORTED_OPERATION', { message, detailReason: 'BUDGET_EXCEEDED' });
}
