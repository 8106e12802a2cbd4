import { agentMessage, statusUpdate, type TaskReference } from './constructors.js';
import { isJsonObject, type JsonObject } from './json.js';
import type { Message } from './message.js';

/** Metadata key under which a local agent reports the kind of its failure. */
const FAILURE_KEY = 'parley/failure';

/** Machine-readable description of a failure. Retry decisions depend on it, never on a text. */
export interface FailureNote {
  /** Kind of the failure: `connect`, `timeout`, `server-error`, `rate-limited`, `invalid-output`, … */
  kind: string;
  /** Milliseconds to wait before the next attempt, if the failing side asked for that. */
  retryAfter?: number;
}

/** Returns metadata that describes a failure. */
export function failureMetadata(note: FailureNote): JsonObject {
  return { [FAILURE_KEY]: { ...note } };
}

/** Reads the failure from the metadata of an event or a Message; `undefined` if it has none. */
export function failureNote(metadata: JsonObject | undefined): FailureNote | undefined {
  const said = metadata?.[FAILURE_KEY];
  if (!isJsonObject(said) || typeof said['kind'] !== 'string') return undefined;
  const { kind, retryAfter } = said;
  return { kind, ...(typeof retryAfter === 'number' && { retryAfter }) };
}

/**
 * Creates the final update of a failed Task. The failure is described in its Message, so later readers of the Task find
 * it too.
 */
export function failedUpdate(
  reference: TaskReference,
  text: string,
  note?: FailureNote,
): ReturnType<typeof statusUpdate> {
  const update = statusUpdate(reference, 'TASK_STATE_FAILED');
  const message: Message = agentMessage(reference, text, note && failureMetadata(note));
  update.statusUpdate.status.message = message;
  return update;
}
