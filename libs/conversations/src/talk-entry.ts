import { type SaidText, SignedEntries } from '#libs/executor';
import { canonicalJson, firstData, type JsonValue, type Message } from '#libs/protocol';
import type { TalkOrigin } from './conversation.js';

/** Extension and metadata key for the origin of a request for a conversation. */
export const TALK_ENTRY = 'urn:parley:extension:talk:v1';

/** Origin of a request for a conversation. */
export interface TalkEntry {
  origin: TalkOrigin;
  /** Texts of the agent's Task up to the call, oldest first. */
  before?: SaidText[];
  /** Number of older texts that are left out. */
  omitted?: number;
  /** Revision of the requester; entries of earlier versions have none. */
  revision?: string;
}

/** Signs and reads the origins of conversations that agents start by a tool. An entry is bound to its request. */
export class TalkEntries extends SignedEntries<TalkEntry> {
  protected override readonly extension = TALK_ENTRY;

  protected override boundContent({ parts }: Message): JsonValue {
    return canonicalJson(firstData(parts) ?? null);
  }
}
