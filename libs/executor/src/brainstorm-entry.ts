import { firstData, isJsonObject, type JsonObject, type JsonValue, type Message } from '#libs/protocol';
import { SignedEntries } from './signed-entries.js';

/**
 * The extension, and the metadata key, under which a Message says that a brainstorm asks for a state, and under which the
 * Artifact that answers it says how the state came about.
 */
export const BRAINSTORM_ENTRY = 'urn:parley:extension:brainstorm:v1';

/** What a brainstorm tells an agent of this service beside the data Part of a Message. */
export interface BrainstormEntry {
  /** Path of the agent that the Message is for: the entry counts for no other one. */
  agent: string;
  /** JSON Schema (draft 7) of the state that a model is asked for; the prompt of the Message has it in words. */
  output: JsonObject;
  /** JSON Schema of every answer that the brainstorm takes for a state. */
  accepts: JsonObject;
  /**
   * Names of stored credentials, of which the first that may go to a model's endpoint takes the place of the model's own.
   * Absent: the model's own counts.
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
