/** Commands to a conversation; each is executed before the next turn. */
export type CommandKind = 'pause' | 'resume' | 'stop' | 'inject';

export interface ConversationCommand {
  /** Number of the command within its conversation, from 1 without gaps. */
  number: number;
  kind: CommandKind;
  /** Text of an `inject` command. */
  text?: string;
}

/** Stores the commands to conversations, for whichever replica executes them. */
export abstract class ConversationCommands {
  /** Adds a command and resolves with its number when it is durable. */
  abstract add(conversationId: string, command: Omit<ConversationCommand, 'number'>): Promise<number>;

  /** Returns the commands after a number, in order. */
  abstract listAfter(conversationId: string, number: number): Promise<ConversationCommand[]>;
}
