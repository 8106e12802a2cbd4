import { canonicalJson, isJsonObject, type JsonObject, type JsonValue, type Message } from '#libs/protocol';
import type { TaskScope } from '#libs/tasks';
import type { CallChains } from './call-chain.js';

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

/**
 * Signs and reads the entries of conversations (ADR 10).
 *
 * - An entry counts only for the Message and the owner that this service signed it for, at every replica.
 * - An entry without a valid signature is metadata like any other.
 */
export class ConversationEntries {
  constructor(private readonly chains: Pick<CallChains, 'sign' | 'hasSigned'>) {}

  /** Returns the Message with a signed entry in its metadata. */
  signed(entry: ConversationEntry, message: Message, scope: TaskScope): Message {
    const signature = this.chains.sign(CONVERSATION_ENTRY, signedValues(entry, message, scope));
    const metadata = { ...message.metadata, [CONVERSATION_ENTRY]: { ...entry, signature } as unknown as JsonObject };
    return { ...message, extensions: [...(message.extensions ?? []), CONVERSATION_ENTRY], metadata };
  }

  /** Returns the entry that this service signed for the Message of this owner, if there is one. */
  read(message: Message, scope: TaskScope): ConversationEntry | undefined {
    const value = message.metadata?.[CONVERSATION_ENTRY];
    if (!isJsonObject(value)) return undefined;
    const { signature, ...entry } = value;
    if (typeof signature !== 'string') return undefined;
    const values = signedValues(entry, message, scope);
    const isOwn = this.chains.hasSigned(CONVERSATION_ENTRY, values, signature);
    return isOwn ? (entry as unknown as ConversationEntry) : undefined;
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

/** Returns the Message as it was before an entry was added to it. */
export function withoutEntry(message: Message): Message {
  const { [CONVERSATION_ENTRY]: entry, ...metadata } = message.metadata ?? {};
  if (entry === undefined) return message;
  const { extensions = [], metadata: _metadata, ...rest } = message;
  const others = extensions.filter((uri) => uri !== CONVERSATION_ENTRY);
  return {
    ...rest,
    ...(others.length > 0 && { extensions: others }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}

/** Texts alone count of the Parts: what carries a Message may spell the rest in other ways. */
function signedValues(
  entry: ConversationEntry | JsonObject,
  { messageId, parts }: Message,
  { tenant, owner }: TaskScope,
): JsonValue[] {
  const texts = parts.map(({ text }) => text ?? null);
  return [tenant, owner, messageId, texts, canonicalJson(entry as unknown as JsonValue)];
}
