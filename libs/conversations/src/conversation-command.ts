import { Injectable } from '@nestjs/common';
import type { Job } from '#libs/jobs';
import { Database } from '#libs/postgres';
import { TaskRetention } from '#libs/tasks';

/** Commands to a conversation; each is executed before the next turn. */
export type CommandKind = 'pause' | 'resume' | 'stop' | 'inject';

export interface ConversationCommand {
  /** Number of the command within its conversation, from 1 without gaps. */
  number: number;
  kind: CommandKind;
  /** Text of an `inject` command. */
  text?: string;
}

/** Stores commands until the replica that executes the conversation reads them. */
export abstract class ConversationCommands {
  /** Adds a command and resolves with its number when it is durable. */
  abstract add(conversationId: string, command: Omit<ConversationCommand, 'number'>): Promise<number>;

  /** Returns the commands whose numbers are greater than `number`, in order. */
  abstract listAfter(conversationId: string, number: number): Promise<ConversationCommand[]>;
}

/**
 * Name of the job that resumes a waiting conversation. It handles commands that arrived just before the conversation
 * began to wait.
 */
export const WAKE = 'conversations.wake';

/**
 * Payload of a wake job: the conversation, and the number of the last command that it had executed when it began to
 * wait.
 */
export interface WakePayload {
  conversationId: string;
  command: number;
}

export function wakeJob(conversationId: string, command: number): Job {
  return { name: WAKE, payload: { conversationId, command } };
}

/** Reads the payload of a wake job. @throws TypeError for a payload of another shape */
export function readWakePayload(payload: unknown): WakePayload {
  const { conversationId, command } = (payload ?? {}) as Record<string, unknown>;
  if (typeof conversationId !== 'string' || typeof command !== 'number')
    throw new TypeError('It names no conversation');
  return { conversationId, command };
}

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

  /**
   * Adds a command. If two writers choose the same number, the slower writer retries with the next number, so there are
   * no gaps.
   */
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
