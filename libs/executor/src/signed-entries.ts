import { canonicalJson, isJsonObject, type JsonObject, type JsonValue, type Message } from '#libs/protocol';
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
