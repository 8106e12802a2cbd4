import { hash, randomFillSync } from 'node:crypto';
import { UnavailableFault } from '#libs/faults';
import type { JsonObject, JsonValue } from './json.js';
import { type Message, type Part, textPart } from './message.js';

/** Task states as ProtoJSON writes them (A2A 1.0, section 4.1.3). */
export const TASK_STATES = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_REJECTED',
  'TASK_STATE_AUTH_REQUIRED',
] as const;

export type TaskState = (typeof TASK_STATES)[number];

const TERMINAL: ReadonlySet<TaskState> = new Set<TaskState>([
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
]);

const WAITING: ReadonlySet<TaskState> = new Set<TaskState>(['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED']);

/** True for a terminal state: the Task never changes again (section 4.1.3). */
export function isTerminalState(state: TaskState): boolean {
  return TERMINAL.has(state);
}

/** True for a waiting ("interrupted") state: the Task does nothing until its caller sends the next Message. */
export function isWaitingState(state: TaskState): boolean {
  return WAITING.has(state);
}

/** True for a state that is neither terminal nor waiting: an executor is, or should be, working. */
export function isActiveState(state: TaskState): boolean {
  return !TERMINAL.has(state) && !WAITING.has(state);
}

const POOL = Buffer.allocUnsafe(4096);
/** Pool of random bytes as hexadecimal digits, and the number of its digits that are used up. */
let [digits, used] = ['', 0];

/** Returns `count` (at most 64) random hexadecimal digits from a cryptographic source. */
export function randomDigits(count: number): string {
  if (used + count > digits.length) [digits, used] = [randomFillSync(POOL).toString('hex'), 0];
  used += count;
  return digits.slice(used - count, used);
}

/** Creates a UUIDv4 (RFC 9562) from the same source as `crypto.randomUUID`, at half its cost. */
export function randomId(): string {
  const random = randomDigits(31);
  const variant = '89ab'.charAt(random.charCodeAt(30) & 3);
  return `${random.slice(0, 8)}-${random.slice(8, 12)}-4${random.slice(12, 15)}-${variant}${random.slice(15, 18)}-${random.slice(18, 30)}`;
}

/**
 * Derives an id from values: equal values give the same id in any process, so a repeated request can be recognized. The
 * id has the form of a UUID of version 8 (RFC 9562).
 */
export function derivedId(...values: JsonValue[]): string {
  const hex = hash('sha256', JSON.stringify(values), 'hex');
  const variant = ((Number.parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(18, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}

let [writtenAt, written] = [Number.NaN, ''];
let time = new Date(Number.NaN);
/** Cache for `timestampNow`: the second of the last timestamp, and the text of that timestamp up to the seconds. */
let [second, beginning] = [Number.NaN, ''];

/**
 * Returns the current time as the specification formats it (section 5.6.1): UTC, to the millisecond. Formats at most
 * once per millisecond.
 */
export function timestampNow(): string {
  const now = Date.now();
  if (now === writtenAt) return written;
  const milliseconds = now % 1000;
  if (now - milliseconds !== second)
    [second, beginning] = [now - milliseconds, new Date(now).toISOString().slice(0, 20)];
  [writtenAt, written] = [now, `${beginning}${String(milliseconds).padStart(3, '0')}Z`];
  return written;
}

/**
 * Parses a timestamp. For the newest result of `timestampNow`, repeated calls return the same Date, so callers must not
 * change the result.
 */
export function dateOfTimestamp(timestamp: string): Date {
  if (timestamp !== written) return new Date(timestamp);
  if (time.getTime() !== writtenAt) time = new Date(writtenAt);
  return time;
}

const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|(?<sign>[+-])(?<hours>\d\d):(?<minutes>\d\d))$/;
const MINUTE_MS = 60_000;

/**
 * Parses an RFC 3339 timestamp, to the millisecond. Returns `undefined` for any other text, for a nonexistent date or
 * time, and outside the years 1 to 9999, the range of google.protobuf.Timestamp. Leap seconds are rejected.
 */
export function readTimestamp(text: string): Date | undefined {
  const match = RFC_3339.exec(text);
  if (!match) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
  const { sign, hours = 0, minutes = 0 } = match.groups ?? {};
  if (hour > 23 || minute > 59 || second > 59 || Number(hours) > 23 || Number(minutes) > 59) return undefined;
  // Date.UTC maps years below 100 to 1900 and later.
  const time = new Date(0);
  time.setUTCFullYear(year, month - 1, day);
  // Date wraps a nonexistent day into the next month.
  if (time.getUTCMonth() !== month - 1 || time.getUTCDate() !== day) return undefined;
  time.setUTCHours(hour, minute, second, Number((match[7] ?? '').padEnd(3, '0').slice(0, 3)));
  const offset = (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
  time.setTime(time.getTime() - (sign === '-' ? -offset : offset));
  const written = time.getUTCFullYear();
  return written >= 1 && written <= 9999 ? time : undefined;
}

/** Output of a Task (A2A 1.0, section 4.1.7). */
export interface Artifact {
  artifactId: string;
  name?: string;
  description?: string;
  parts: Part[];
  metadata?: JsonObject;
  extensions?: string[];
}

export interface TaskStatus {
  state: TaskState;
  message?: Message;
  /** Time of the status: ISO 8601, UTC, to the millisecond (section 5.6.1). */
  timestamp?: string;
}

/** Stateful unit of work of the protocol (section 4.1.1). */
export interface Task {
  id: string;
  contextId: string;
  status: TaskStatus;
  artifacts?: Artifact[];
  history?: Message[];
  metadata?: JsonObject;
}

export interface TaskStatusUpdateEvent {
  taskId: string;
  contextId: string;
  status: TaskStatus;
  metadata?: JsonObject;
}

export interface TaskArtifactUpdateEvent {
  taskId: string;
  contextId: string;
  artifact: Artifact;
  /** True to add the Parts to the Artifact with the same id. False, or absent: they replace it. */
  append?: boolean;
  lastChunk?: boolean;
  metadata?: JsonObject;
}

/** Item of a stream; exactly one member is present (section 3.2.3). */
export type StreamResponse =
  | { task: Task }
  | { message: Message }
  | { statusUpdate: TaskStatusUpdateEvent }
  | { artifactUpdate: TaskArtifactUpdateEvent };

/** Answer to SendMessage: a Task, or a direct Message if no Task was needed (section 3.1.1). */
export type SendMessageResponse = { task: Task } | { message: Message };

/**
 * Error: another replica took over a Task before it was known whether a caller's Message was stored. Callers get status
 * 503 over every protocol, with `TASK_CHANGED_HANDS` and `ADVICE`; the error's message is only for the log.
 */
export class TaskChangedHands extends UnavailableFault {
  static readonly REASON = 'TASK_CHANGED_HANDS';
  static readonly ADVICE =
    'Another replica took over the task before the message was known to be stored; try again later with the same Idempotency-Key, if any';

  override readonly name: string = 'TaskChangedHands';

  override get reason(): string {
    return TaskChangedHands.REASON;
  }

  override get publicMessage(): string {
    return TaskChangedHands.ADVICE;
  }
}

/** Ids of the Task and the context that an event or a Message belongs to. A Task's RequestContext also has them. */
export interface TaskReference {
  taskId: string;
  contextId: string;
}

/** Creates a Message from a caller. Text becomes one text Part. */
export function userMessage(content: string | Part[], fields: Partial<Omit<Message, 'role' | 'parts'>> = {}): Message {
  return { messageId: fields.messageId ?? randomId(), ...fields, role: 'ROLE_USER', parts: toParts(content) };
}

/** Creates a Message from the agent that works on the Task. Text becomes one text Part. */
export function agentMessage(reference: TaskReference, content: string | Part[], metadata?: JsonObject): Message {
  return {
    messageId: randomId(),
    contextId: reference.contextId,
    taskId: reference.taskId,
    role: 'ROLE_AGENT',
    parts: toParts(content),
    ...(metadata && { metadata }),
  };
}

/** Creates the Task for an accepted first Message, in state SUBMITTED and with the Message as its history. */
export function submittedTask(reference: TaskReference, message: Message, metadata?: JsonObject): Task {
  return {
    id: reference.taskId,
    contextId: reference.contextId,
    status: { state: 'TASK_STATE_SUBMITTED', timestamp: timestampNow() },
    history: [{ ...message, taskId: reference.taskId, contextId: reference.contextId }],
    ...(metadata && { metadata }),
  };
}

/** Creates a status update with the current time. Text or Parts become the status Message. */
export function statusUpdate(
  reference: TaskReference,
  state: TaskState,
  content?: string | Part[],
  metadata?: JsonObject,
): { statusUpdate: TaskStatusUpdateEvent } {
  const { taskId, contextId } = reference;
  const timestamp = timestampNow();
  const status =
    content === undefined ? { state, timestamp } : { state, message: agentMessage(reference, content), timestamp };
  return { statusUpdate: metadata ? { taskId, contextId, status, metadata } : { taskId, contextId, status } };
}

export interface ArtifactOptions {
  append?: boolean;
  lastChunk?: boolean;
  metadata?: JsonObject;
}

/** Creates an update with a new Artifact, or if `append` is true with further Parts of an existing Artifact. */
export function artifactUpdate(
  reference: TaskReference,
  artifact: Omit<Artifact, 'artifactId'> & { artifactId?: string },
  options: ArtifactOptions = {},
): { artifactUpdate: TaskArtifactUpdateEvent } {
  return {
    artifactUpdate: {
      taskId: reference.taskId,
      contextId: reference.contextId,
      artifact: { ...artifact, artifactId: artifact.artifactId ?? randomId() },
      ...options,
    },
  };
}

function toParts(content: string | Part[]): Part[] {
  return typeof content === 'string' ? [textPart(content)] : content;
}
