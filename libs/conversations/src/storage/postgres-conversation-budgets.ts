import { Injectable } from '@nestjs/common';
import { Database } from '#libs/postgres';
import { TaskRetention } from '#libs/tasks';
import { type Budget, ConversationBudgets, type CountedCall } from '../conversation-budget.js';

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
