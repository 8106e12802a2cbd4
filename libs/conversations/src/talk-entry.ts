import { type SaidText, SignedEntries } from '#libs/executor';
import { canonicalJson, firstData, type JsonValue, type Message } from '#libs/protocol';
import type { ConversationOrigin } from './conversation.js';

/** The extension, and the metadata key, under which a Message says where the request for a conversation comes from. */
export const TALK_ENTRY = 'urn:parley:extension:talk:v1';

/** Origin of a request for a conversation. */
export interface TalkEntry {
  origin: ConversationOrigin;
  /** Texts of the agent's Task up to the call, oldest first. */
  before?: SaidText[];
  /** Number of older texts that are left out. */
  omitted?: number;
  /** Revision of the requester; entries of earlier versions have none. */
  revision?: string;
}

/** Signs and reads what agents say that ask for conversations by a tool. An entry is bound to the request. */
export class TalkEntries extends SignedEntries<TalkEntry> {
  protected override readonly extension = TALK_ENTRY;

  protected override boundContent({ parts }: Message): JsonValue {
    return canonicalJson(firstData(parts) ?? null);
  }
}
