import { Injectable } from '@nestjs/common';
import { Database } from '#libs/postgres';
import { A2AError } from '#libs/protocol';
import { TaskRetention } from '#libs/tasks';

/**
 * Limits, or amounts used, of the calls below one outermost Task (root). They cover the whole tree of its Tasks;
 * `maxTurns` limits a single conversation.
 */
export interface Budget {
  /** Number of turns requested from agents. */
  turns: number;
  /** Number of calls to agents: turns, announcements and agents called as tools, failed calls included. */
  calls: number;
  /** Seconds since the first call, pauses included. */
  seconds: number;
}

/** Limits for each outermost Task. */
const BUDGET: Budget = { turns: 200, calls: 250, seconds: 24 * 60 * 60 };

/** Kinds of counted calls: a turn or an announcement of a conversation, or the call of an agent as a tool. */
type CountedCall = 'turn' | 'announcement' | 'call';

/** Counters of the calls below an outermost Task. */
export abstract class ConversationBudgets {
  /** Counts one call and returns the amounts used, including this call. @param root id of the outermost Task */
  abstract countCall(root: string, call: CountedCall): Promise<Budget>;
}

/**
 * Refuses a call that has been counted, if the amounts used exceed the budget.
 * @throws A2AError UNSUPPORTED_OPERATION with the reason `BUDGET_EXCEEDED`
 */
export function refuseBeyond(used: Budget, budget: Budget = BUDGET): void {
  const what = (Object.keys(budget) as (keyof Budget)[]).find((it) => used[it] > budget[it]);
  if (what === undefined) return;
  const message = `BUDGET_EXCEEDED: everything that began with this conversation has used its ${budget[what]} ${what}`;
  throw new A2AError('UNSUPPORTED_OPERATION', { message, detailReason: 'BUDGET_EXCEEDED' });
}

/** ConversationBudgets on PostgreSQL. */
@Injectable()
export class PostgresConversationBudgets extends ConversationBudgets {
  constructor(
    private readonly database: Database,
    retention: TaskRetention,
  ) {
    super();
    retention.purgeWith('DELETE FROM conversation_budget WHERE root = ANY($1::text[])');
  }

  async countCall(root: string, call: CountedCall): Promise<Budget> {
    const { rows } = await this.database.pool.query<Budget>({
      name: 'conversation-budget-spend',
      text: `INSERT INTO conversation_budget AS budget (root, turns, calls) VALUES ($1, $2, 1)
             ON CONFLICT (root) DO UPDATE SET turns = budget.turns + $2, calls = budget.calls + 1
             RETURNING turns, calls, extract(epoch FROM now() - started_at)::float8 AS seconds`,
      values: [root, call === 'turn' ? 1 : 0],
    });
    return rows[0] ?? { turns: 0, calls: 0, seconds: 0 };
  }
}
