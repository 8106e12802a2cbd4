import { isJsonObject, type JsonObject, type JsonValue, type Message } from '#libs/protocol';
import type { TaskScope } from '#libs/tasks';
import { SignedEntries } from './signed-entries.js';

/** URI of the extension, and metadata key, under which a Message names the step of a conversation. */
export const CONVERSATION_ENTRY = 'urn:parley:extension:conversation:v1';

/** Text of a conversation that its speaker has not received as a Message. */
export interface SaidText {
  /** Speaker. `self`: the addressed agent; `peer`: any other. */
  by: 'self' | 'peer';
  /** Name of the agent that said it, if more than one is possible. */
  agent?: string;
  text: string;
}

/** Data that a conversation sends to an agent besides the Parts of a Message. */
export interface ConversationEntry {
  /** Prompt of the step, as system text for a model. */
  instructions: string;
  role: 'requester' | 'target' | 'announcer';
  /** Name of the addressed agent. */
  self: string;
  /** Name of the other side; absent for the announcer. */
  peer?: string;
  /** Number of the requested turn, from 1; absent for the announcer. */
  turn?: number;
  /** Number of turns that may follow the first answer; absent for the announcer. */
  maxTurns?: number;
  /** Names of both sides and the outcome of the conversation; for the announcer only. */
  requester?: string;
  target?: string;
  outcome?: string;
  /** Answer that skips the turn. */
  skip: string;
  /** Texts that the agent has neither received nor answered, oldest first; the whole transcript for the announcer. */
  said?: SaidText[];
  /** Number of older texts that `said` omits because of its limit. */
  omitted?: number;
}

/** Signs and reads the entries of conversations. An entry is bound to the texts of its Message. */
export class ConversationEntries extends SignedEntries<ConversationEntry> {
  protected override readonly extension = CONVERSATION_ENTRY;

  protected override boundContent({ parts }: Message): JsonValue {
    return parts.map(({ text }) => text ?? null);
  }

  /** Returns the metadata in which a Task keeps the entry of its first Message; empty without a valid entry. */
  entryMetadata(message: Message, scope: TaskScope): JsonObject {
    const entry = this.readEntry(message, scope);
    return entry ? { [CONVERSATION_ENTRY]: { ...entry } as unknown as JsonObject } : {};
  }
}

/** Returns the entry that a Task keeps of the Message that made it. */
export function keptEntry(metadata: JsonObject | undefined): ConversationEntry | undefined {
  const entry = metadata?.[CONVERSATION_ENTRY];
  return isJsonObject(entry) ? (entry as unknown as ConversationEntry) : undefined;
}
