import { A2AError } from '#libs/protocol';

/** Limits for all conversations and calls by agents below one outermost Task. */
export interface Budget {
  /** Turns requested from agents. */
  turns: number;
  /** Calls to agents: turns, announcements and calls as tools, failed ones included. */
  calls: number;
  /** Seconds since the first call, pauses included. */
  seconds: number;
}

export const BUDGET: Budget = { turns: 200, calls: 250, seconds: 24 * 60 * 60 };

/** Kinds of calls that count: steps of a conversation, and the call of an agent as a tool. */
export type CountedCall = 'turn' | 'announcement' | 'call';

/** Counters of the calls below a root Task. */
export abstract class ConversationBudgets {
  /** Counts one call and returns the usage including it. */
  abstract countCall(root: string, call: CountedCall): Promise<Budget>;
}

/**
 * Refuses a call beyond the budget.
 * @throws A2AError UNSUPPORTED_OPERATION with the reason `BUDGET_EXCEEDED`
 */
export function refuseBeyond(used: Budget, budget: Budget = BUDGET): void {
  const what = (Object.keys(budget) as (keyof Budget)[]).find((it) => used[it] > budget[it]);
  if (what === undefined) return;
  const message = `BUDGET_EXCEEDED: everything that began with this conversation has used its ${budget[what]} ${what}`;
  throw new A2AError('UNSUPPORTED_OPERATION', { message, detailReason: 'BUDGET_EXCEEDED' });
}
