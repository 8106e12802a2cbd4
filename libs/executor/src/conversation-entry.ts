import { isJsonObject, type JsonObject, type JsonValue, type Message } from '#libs/protocol';
import type { TaskScope } from '#libs/tasks';
import { SignedEntries } from './signed-entries.js';

/** The extension, and the metadata key, under which a Message says which step of a conversation it asks for. */
export const CONVERSATION_ENTRY = 'urn:parley:extension:conversation:v1';

/** A text of a conversation that its speaker has not been sent as a Message. */
export interface SaidText {
  /** `self`: the agent that the Message is for; `peer`: somebody else. */
  by: 'self' | 'peer';
  /** The name of the agent that said it, where more than one can be meant. */
  agent?: string;
  text: string;
}

/** What a conversation tells an agent beside the Parts of a Message. */
export interface ConversationEntry {
  /** The prompt of the step, as system text for a model. */
  instructions: string;
  role: 'requester' | 'target' | 'announcer';
  /** The name of the agent that the Message is for. */
  self: string;
  /** The name of the other side; absent for the announcer. */
  peer?: string;
  /** The turn that the Message asks for, from 1; absent for the announcer. */
  turn?: number;
  /** Number of turns that may follow the first answer; absent for the announcer. */
  maxTurns?: number;
  /** The names of both sides and how the conversation ended; for the announcer alone. */
  requester?: string;
  target?: string;
  outcome?: string;
  /** The answer that says nothing. */
  skip: string;
  /** Texts that the agent has neither received nor answered, oldest first; for the announcer the whole transcript. */
  said?: SaidText[];
  /** Number of older texts that `said` leaves out because of its limit. */
  omitted?: number;
}

/** Signs and reads the entries of conversations. An entry is bound to the texts of its Message. */
export class ConversationEntries extends SignedEntries<ConversationEntry> {
  protected override readonly extension = CONVERSATION_ENTRY;

  protected override boundContent({ parts }: Message): JsonValue {
    return parts.map(({ text }) => text ?? null);
  }

  /** Returns the metadata by which a Task keeps the entry of its first Message; none without a valid entry. */
  metadata(message: Message, scope: TaskScope): JsonObject {
    const entry = this.read(message, scope);
    return entry ? { [CONVERSATION_ENTRY]: { ...entry } as unknown as JsonObject } : {};
  }
}

/** Returns the entry that a Task keeps of the Message that made it. */
export function keptEntry(metadata: JsonObject | undefined): ConversationEntry | undefined {
  const entry = metadata?.[CONVERSATION_ENTRY];
  return isJsonObject(entry) ? (entry as unknown as ConversationEntry) : undefined;
}
