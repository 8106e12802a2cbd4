import { agentMessage, statusUpdate, type TaskReference } from './constructors.js';
import { isJsonObject, type JsonObject } from './json.js';
import type { Message } from './message.js';

/** The metadata key under which an own agent says of what kind its failure is. */
const FAILURE_KEY = 'parley/failure';

/** What programs may know of a failure: whether to try again hangs on this, never on a text. */
export interface FailureNote {
  /** `connect`, `timeout`, `server-error`, `rate-limited`, `invalid-output`, … */
  kind: string;
  /** How many milliseconds to wait before the next attempt, where somebody asks for that. */
  retryAfter?: number;
}

/** Metadata that tells of a failure. */
export function failureMetadata(note: FailureNote): JsonObject {
  return { [FAILURE_KEY]: { ...note } };
}

/** What the metadata of an event or of a Message tells of a failure; `undefined` where it tells nothing. */
export function failureNote(metadata: JsonObject | undefined): FailureNote | undefined {
  const said = metadata?.[FAILURE_KEY];
  if (!isJsonObject(said) || typeof said['kind'] !== 'string') return undefined;
  const { kind, retryAfter } = said;
  return { kind, ...(typeof retryAfter === 'number' && { retryAfter }) };
}

/**
 * The end of a Task that has failed. What is known of the failure stands in its Message, so that whoever reads the Task
 * later finds it there as well.
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
