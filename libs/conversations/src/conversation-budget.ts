import { A2AError } from '#libs/protocol';

/** Limits of all conversations and calls by agents that one outermost Task leads to. */
export interface Budget {
  /** Turns that agents are asked for. */
  turns: number;
  /** Calls to agents: turns, announcements and calls as tools, also those that failed. */
  calls: number;
  /** From the first call on, paused or not. */
  seconds: number;
}

export const BUDGET: Budget = { turns: 200, calls: 250, seconds: 24 * 60 * 60 };

/** Kinds of calls that count: a step of a conversation, or the call of an agent as a tool. */
export type CountedCall = 'turn' | 'announcement' | 'call';

/** Counts what the conversations of a root have used. */
export abstract class ConversationBudgets {
  /** Counts one call, and gives all that was used with it. */
  abstract spend(root: string, call: CountedCall): Promise<Budget>;
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
