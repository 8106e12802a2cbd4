import { Injectable } from '@nestjs/common';
import { Database } from '#libs/postgres';
import { TaskRetention } from '#libs/tasks';
import { type ConversationCommand, ConversationCommands } from '../conversation-command.js';

const UNIQUE_VIOLATION = '23505';

/** ConversationCommands on PostgreSQL. */
@Injectable()
export class PostgresConversationCommands extends ConversationCommands {
  constructor(
    private readonly database: Database,
    retention: TaskRetention,
  ) {
    super();
    retention.purgeWith('DELETE FROM conversation_command WHERE conversation_id = ANY($1::text[])');
  }

  /** Adds a command. If two writers take the same number, the second retries with the next, so there are no gaps. */
  async add(conversationId: string, { kind, text }: Omit<ConversationCommand, 'number'>): Promise<number> {
    for (;;) {
      try {
        const { rows } = await this.database.pool.query<{ number: number }>({
          name: 'conversation-command-add',
          text: `INSERT INTO conversation_command (conversation_id, number, kind, text)
                 SELECT $1, coalesce(max(number), 0) + 1, $2, $3
                 FROM conversation_command WHERE conversation_id = $1
                 RETURNING number`,
          values: [conversationId, kind, text ?? null],
        });
        return rows[0]?.number ?? 0;
      } catch (error) {
        if ((error as { code?: string }).code !== UNIQUE_VIOLATION) throw error;
      }
    }
  }

  async listAfter(conversationId: string, number: number): Promise<ConversationCommand[]> {
    const { rows } = await this.database.pool.query<Omit<ConversationCommand, 'text'> & { text: string | null }>({
      name: 'conversation-commands',
      text: `SELECT number, kind, text FROM conversation_command
             WHERE conversation_id = $1 AND number > $2 ORDER BY number`,
      values: [conversationId, number],
    });
    return rows.map(({ text, ...command }) => (text === null ? command : { ...command, text }));
  }
}
