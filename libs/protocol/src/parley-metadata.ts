import type { FieldViolation } from './errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from './json.js';
import type { Message, Part } from './message.js';
import { agentMessage, statusUpdate, type TaskReference } from './task.js';

/** Metadata key of the description of an agent's work step in a Task event that represents the step. */
const RUN_EVENT_KEY = 'parley/event';

/** Step of an agent's work (`model.request`, `node.started`, …), carried in the metadata of a Task event. */
export interface RunEventNote {
  type: string;
  node_id?: string;
  node_type?: string;
  /** Instance of the node, if it has more than one: `draft@2`, `tr[17]`. */
  instance?: string;
  payload: JsonObject;
  /** Time of the step (ISO 8601), on events without a time of their own: artifact updates. */
  timestamp?: string;
}

/** Returns the metadata that marks a Task event as representing a step (`note`) of an agent's work. */
export function runEventMetadata(note: RunEventNote): JsonObject {
  return { [RUN_EVENT_KEY]: note as unknown as JsonObject };
}

/** Reads the step from a Task event's metadata, if any. */
export function runEventNote(metadata: JsonObject | undefined): RunEventNote | undefined {
  return metadata?.[RUN_EVENT_KEY] as unknown as RunEventNote | undefined;
}

/**
 * Outcome of the cancel of a call, as the steps of a run report it.
 * - `acknowledged`: the agent answered with the Task, or the Task was canceled already.
 * - `refused`: the agent answered with an error.
 * - `unreachable`: the agent did not answer, or answered with HTTP 5xx or 429.
 * - `not-started`: the agent received no Message, so there was nothing to cancel.
 * - `unknown`: the agent may have received the Message, but its Task is not known.
 */
export type CallCancelOutcome = 'acknowledged' | 'refused' | 'unreachable' | 'not-started' | 'unknown';

/** Metadata key of a live stream's event in a Task event, such as `a2a`, in the format of that stream. */
const STREAM_EVENT_KEY = 'parley/stream';

/**
 * Event that the event gateway (`/api/events`) sends to subscribers of a live stream. The gateway needs only the name
 * of the stream; further members depend on the stream.
 */
export interface StreamEvent {
  /** Name of the stream that the event belongs to. */
  stream: string;
}

/** Returns metadata that makes a Task event also an event of a live stream. */
export function streamEventMetadata(event: StreamEvent): JsonObject {
  return { [STREAM_EVENT_KEY]: event as unknown as JsonObject };
}

/** Reads the live stream event from a Task event's metadata, if any. */
export function streamEvent(metadata: JsonObject | undefined): (StreamEvent & JsonObject) | undefined {
  const event = metadata?.[STREAM_EVENT_KEY];
  return isJsonObject(event) && typeof event['stream'] === 'string' ? (event as StreamEvent & JsonObject) : undefined;
}

/** Metadata key of the kind of a local agent's failure. */
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
 * Creates the final status update of a failed Task. The status Message describes the failure, so later readers of the
 * Task find the failure too.
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

/** Names of metadata and extensions that only services like this one write and read. */
const OWN_NAME = /^(parley\/|urn:parley:)/;
/**
 * Metadata keys of a Message that are for this service itself: the skill or the node that the Message is for, and its
 * trace.
 */
const ADDRESSING: ReadonlySet<string> = new Set(['skillId', 'node', 'traceparent', 'tracestate']);

/** Members of a Message that its author sets, and that are passed on together with its content. */
export type CallersMembers = Pick<Message, 'metadata' | 'extensions' | 'referenceTaskIds'>;

/**
 * Returns the metadata that a caller wrote for the agent: all entries except those that are meant for this service;
 * `undefined` if there are none.
 */
export function callersMetadata(metadata: JsonObject | undefined): JsonObject | undefined {
  const names = Object.entries(metadata ?? {}).filter(([name]) => !OWN_NAME.test(name) && !ADDRESSING.has(name));
  return names.length === 0 ? undefined : Object.fromEntries(names);
}

/** Returns the members of a caller's Message that are passed on to the agent which gets the Message's content. */
export function callersMembers({ metadata, extensions = [], referenceTaskIds = [] }: CallersMembers): CallersMembers {
  const own = callersMetadata(metadata);
  const named = extensions.filter((uri) => !OWN_NAME.test(uri));
  return {
    ...(own && { metadata: own }),
    ...(named.length > 0 && { extensions: named }),
    ...(referenceTaskIds.length > 0 && { referenceTaskIds }),
  };
}

/** URI of the form extension, and metadata key of the description of the answer that a question expects. */
export const FORM_EXTENSION = 'urn:parley:extension:form:v1';

/** Description of the answer that a question expects. */
export interface FormQuestion {
  /** JSON Schema (draft 7) of the data Part that answers the question. Absent: any text is accepted. */
  form?: JsonObject;
  /** Label of the person or group who shall answer; absent if none is named. */
  assignee?: string;
  /** Deadline of the answer (ISO 8601); absent: no deadline. */
  deadline?: string;
  /** Violations of the form in the previous answer, so that the question is repeated; absent for a first question. */
  violations?: FieldViolation[];
}

/** Creates a Message that asks a question. */
export function formMessage(reference: TaskReference, content: string | Part[], question: FormQuestion): Message {
  const metadata = { [FORM_EXTENSION]: { ...question } as unknown as JsonObject };
  return { ...agentMessage(reference, content, metadata), extensions: [FORM_EXTENSION] };
}

/**
 * Reads the question in a Message from any sender; `undefined` if it has none. Members with invalid types are dropped.
 */
export function formQuestion(message: Pick<Message, 'metadata'> | undefined): FormQuestion | undefined {
  const said = message?.metadata?.[FORM_EXTENSION];
  if (!isJsonObject(said)) return undefined;
  const { form, assignee, deadline, violations } = said;
  const found = Array.isArray(violations) ? violations.filter(isViolation) : [];
  return {
    ...(isJsonObject(form) && { form }),
    ...(typeof assignee === 'string' && { assignee }),
    ...(typeof deadline === 'string' && { deadline }),
    ...(found.length > 0 && { violations: found as unknown as FieldViolation[] }),
  };
}

function isViolation(value: JsonValue): boolean {
  return isJsonObject(value) && typeof value['field'] === 'string' && typeof value['description'] === 'string';
}
