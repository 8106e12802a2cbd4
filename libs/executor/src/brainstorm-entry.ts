import { firstData, isJsonObject, type JsonObject, type JsonValue, type Message } from '#libs/protocol';
import { SignedEntries } from './signed-entries.js';

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
