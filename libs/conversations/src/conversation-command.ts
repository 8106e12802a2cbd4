/** What somebody wants of a conversation that goes on: it is done before the next turn. */
export type CommandKind = 'pause' | 'resume' | 'stop' | 'inject';

export interface ConversationCommand {
  /** Counts the commands of a conversation, from 1 without a gap. */
  number: number;
  kind: CommandKind;
  /** What an `inject` says. */
  text?: string;
}

/** Keeps the commands of conversations, for whichever replica goes on with them. */
export abstract class ConversationCommands {
  /** Resolves with the command's number when it is durable. */
  abstract add(conversationId: string, command: Omit<ConversationCommand, 'number'>): Promise<number>;

  /** The commands after a number, in their order. */
  abstract after(conversationId: string, number: number): Promise<ConversationCommand[]>;
}
