import { canonicalJson, firstData, isJsonObject, type JsonObject, type JsonValue, type Message } from '#libs/protocol';
import type { TaskScope } from '#libs/tasks';
import type { CallChains } from './call-chain.js';

/**
 * Signs and reads metadata that this service adds to a Message under an extension (ADR 10).
 * - An entry counts only for the Message and the owner that it was signed for, at every replica.
 * - An entry without a valid signature is metadata like any other.
 */
export abstract class SignedEntries<Entry extends object> {
  /** URI of the extension, and metadata key, of the entries. */
  protected abstract readonly extension: string;

  constructor(private readonly chains: Pick<CallChains, 'signValues' | 'hasSigned'>) {}

  /** Returns the content of a Message that the signature covers. Transports may re-encode the rest. */
  protected abstract boundContent(message: Message): JsonValue;

  /** Returns the Message with a signed entry in its metadata. */
  attachEntry(entry: Entry, message: Message, scope: TaskScope): Message {
    const { extension } = this;
    const signature = this.chains.signValues(extension, this.signedValues(entry, message, scope));
    const metadata = { ...message.metadata, [extension]: { ...entry, signature } as unknown as JsonObject };
    return { ...message, extensions: [...(message.extensions ?? []), extension], metadata };
  }

  /** Returns the entry that this service signed for the Message and its owner; `undefined` without a valid one. */
  readEntry(message: Message, scope: TaskScope): Entry | undefined {
    const value = message.metadata?.[this.extension];
    if (!isJsonObject(value)) return undefined;
    const { signature, ...entry } = value;
    if (typeof signature !== 'string') return undefined;
    const values = this.signedValues(entry, message, scope);
    return this.chains.hasSigned(this.extension, values, signature) ? (entry as unknown as Entry) : undefined;
  }

  private signedValues(entry: Entry | JsonObject, message: Message, { tenant, owner }: TaskScope): JsonValue[] {
    const content = this.boundContent(message);
    return [tenant, owner, message.messageId, content, canonicalJson(entry as unknown as JsonValue)];
  }
}

/** Returns the Message without the entry of an extension. */
export function withoutExtension(message: Message, extension: string): Message {
  const { [extension]: entry, ...metadata } = message.metadata ?? {};
  if (entry === undefined) return message;
  const { extensions = [], metadata: _metadata, ...rest } = message;
  const others = extensions.filter((uri) => uri !== extension);
  return {
    ...rest,
    ...(others.length > 0 && { extensions: others }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}

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

/**
 * URI of the extension, and metadata key. In a Message it marks the request of a brainstorm for a state; in the
 * Artifact of the answer it describes how the state was produced.
 */
export const BRAINSTORM_ENTRY = 'urn:parley:extension:brainstorm:v1';

/** Data that a brainstorm sends to an agent of this service besides the data Part of a Message. */
export interface BrainstormEntry {
  /** Path of the addressed agent. The entry is invalid for any other agent. */
  agent: string;
  /** JSON Schema (draft 7) of the state that a model must return. The prompt of the Message describes it in words. */
  output: JsonObject;
  /** JSON Schema of every answer that the brainstorm accepts as a state. */
  accepts: JsonObject;
  /**
   * Names of stored credentials. The first one that may be sent to a model's endpoint replaces the model's own
   * credential; absent: the model's own is used.
   */
  credentials?: readonly string[];
}

/** Signs and reads the entries of brainstorms. An entry is bound to the `systemPrompt` of its Message. */
export class BrainstormEntries extends SignedEntries<BrainstormEntry> {
  protected override readonly extension = BRAINSTORM_ENTRY;

  protected override boundContent({ parts }: Message): JsonValue {
    const data = firstData(parts);
    return isJsonObject(data) ? (data.systemPrompt ?? null) : null;
  }
}
