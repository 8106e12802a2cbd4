import { Injectable } from '@nestjs/common';
import { Database } from '#libs/postgres';
import { A2AError } from '#libs/protocol';
import { TaskRetention } from '#libs/tasks';

/**
 * Calls below one root (outermost) Task: the limits, or the amounts used. The budget covers a whole tree of Tasks;
 * `maxTurns` limits a single conversation.
 */
export interface Budget {
  /** Turns requested from agents. */
  turns: number;
  /** Calls to agents: turns, announcements and calls as tools, failed ones included. */
  calls: number;
  /** Seconds since the first call, pauses included. */
  seconds: number;
}

/** Limits for each root Task. */
const BUDGET: Budget = { turns: 200, calls: 250, seconds: 24 * 60 * 60 };

/** Kinds of counted calls: a turn or an announcement of a conversation, or the call of an agent as a tool. */
type CountedCall = 'turn' | 'announcement' | 'call';

/** Counters of the calls below a root Task. */
export abstract class ConversationBudgets {
  /** Counts one call and returns the amounts used, including this call. */
  abstract countCall(root: string, call: CountedCall): Promise<Budget>;
}

/**
 * Refuses a counted call if the amounts used exceed the budget.
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
