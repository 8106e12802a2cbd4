import type { Job } from '#libs/jobs';
import {
  isActiveState,
  isTerminalState,
  type JsonObject,
  KEPT_FILE,
  keptFileOf,
  type Message,
  type Part,
  randomDigits,
  type RunEventNote,
  runEventNote,
  type StreamResponse,
  type Task,
  type TaskArtifactUpdateEvent,
  type TaskStatusUpdateEvent,
} from '#libs/protocol';
import type { Fact } from '#libs/service';

/**
 * Event of a Task. The first event is always `task`, the Task in state SUBMITTED with the Message that began it.
 * - `received`: the caller's follow-up Message that the status update answers. It is part of the log.
 * - `jobs`: jobs that are enqueued in the commit of the event; not part of the log.
 * - `parks`: time until which the event parks the Task; not part of the log. The replica then releases the Task, and
 *   any replica resumes it at that time, or earlier on a Message or a cancel.
 * - `questions`: for a waiting state, the entries that an inbox shows until the Task resumes; not part of the log.
 * - `facts`: facts for listeners in this process (libs/service), emitted after the commit by the process that made the
 *   event.
 * - `relayed`: for the first event of a registered agent's Task, the row of the table `registered_agent_task`.
 * - `remote`: ids that a remote agent has for the Task and its context, stored in the commit of the event; not part of
 *   the log.
 * - `prompt`: the request to a model, or its answer; stored beside the log in the commit of the event.
 */
export type TaskEvent =
  | { task: Task; jobs?: readonly Job[]; relayed?: RelayedTurn }
  | {
      statusUpdate: TaskStatusUpdateEvent;
      received?: Message;
      jobs?: readonly Job[];
      parks?: Date;
      questions?: readonly TaskQuestion[];
      facts?: readonly Fact[];
      remote?: RemoteIds;
      prompt?: PromptNote;
    }
  | { artifactUpdate: TaskArtifactUpdateEvent; jobs?: readonly Job[]; remote?: RemoteIds };

/**
 * Row of the table `registered_agent_task`: the first turn of a Task of a registered agent. A remote agent does the
 * work.
 */
export interface RelayedTurn {
  /** Digest of the caller and the agent. */
  talkKey: string;
  /** Digest of the caller, the agent and the context. */
  contextKey: string;
  messageId: string;
  /** JSON of the part of the request that a recovered turn needs. */
  options: string;
  /** Digest of the tenant and the agent. */
  agentKey: string;
  /** Id of the execution that begins the turn. */
  execution: string;
  /** True if the Task's context is new, so that no other Task has it yet. Not stored. */
  isNewContext: boolean;
  /** Time of `performance.now()` when this object was made, before the turn was recorded. Not stored. */
  madeAt: number;
}

/** Content of a model call. It belongs to the event that reports the request or the outcome of the call. */
export interface PromptNote {
  /** Line to keep beside the log (see PromptLog); absent: nothing is kept. */
  line?: string;
  /** Attributes of the call's trace span with its content, if spans have content. */
  attributes?: Readonly<Record<string, string>>;
}

/** Ids of a Task and its context at a remote agent. `taskId` is absent if the agent answers with a Message. */
export interface RemoteIds {
  taskId?: string;
  contextId: string;
}

/** Question of a waiting Task. */
export interface TaskQuestion {
  /** Key of the question, unique within the Task. */
  key: string;
  /** Label of the person or group that should answer; absent if none is named. */
  assignee?: string;
  since: Date;
  /** Further content of the question for an inbox, such as its text and form. */
  body: JsonObject;
}

/** TaskEvent with its sequence in the log. */
export interface RecordedEvent {
  taskId: string;
  /** Number in the Task's log, from 1 without gaps. It is the SSE id and the replay cursor. */
  sequence: number;
  event: TaskEvent;
  /** The event as a ProtoJSON StreamResponse, serialized once. Streams send it. */
  json: string;
  /** Text of the event in a log row; set if it was built together with the JSON. */
  row?: string | undefined;
}

/**
 * Returns the time until which an event parks its Task (the Task waits, and no replica executes it); `undefined` if it
 * does not park. Also `undefined` for events read from a log, since the time is not part of the log.
 */
export function parkedUntil(event: TaskEvent): Date | undefined {
  if (!('statusUpdate' in event) || isTerminalState(event.statusUpdate.status.state)) return undefined;
  return event.parks;
}

/** True if the event ends the turn: the Task has ended, waits for an answer, or is parked (released until a time). */
export function endsTurn(event: TaskEvent): boolean {
  if (!('statusUpdate' in event)) return false;
  return !isActiveState(event.statusUpdate.status.state) || event.parks !== undefined;
}

/** Returns the line of an event's PromptNote; `undefined` if the event has none. Nearly all events have none. */
export function promptLineOf(event: TaskEvent): string | undefined {
  return 'statusUpdate' in event ? event.prompt?.line : undefined;
}

/** Returns the part of a TaskEvent that callers see. */
export function toStreamResponse(event: TaskEvent): StreamResponse {
  if ('statusUpdate' in event) return { statusUpdate: event.statusUpdate };
  if ('task' in event) return { task: event.task };
  return { artifactUpdate: event.artifactUpdate };
}

/**
 * Returns the run event (RunEventNote) in the metadata of a Task event, under `parley/event`; `undefined` if there is
 * none.
 */
export function noteOf(event: TaskEvent): RunEventNote | undefined {
  if ('task' in event) return undefined;
  return runEventNote('statusUpdate' in event ? event.statusUpdate.metadata : event.artifactUpdate.metadata);
}

/** Maximum number of files that one write of a Task records as used because texts contain their URLs. */
const MOST_FILES = 1_000;
/**
 * Maximum number of files that one write of a Task records as used because they have the bytes of its Parts. They are
 * recorded before files that texts name, so that many URLs in a text cannot displace them.
 */
const MOST_KEPT_FILES = 10_000;
const PATH = '/api/files/';
/** Regular expression of a UUID of version 7. */
const ID = '[\\da-f]{8}-[\\da-f]{4}-7[\\da-f]{3}-[89ab][\\da-f]{3}-[\\da-f]{12}';
/** Regular expression for the URL path of a caller's file, with the file's id, at any address of this service. */
const FILE_PATH = new RegExp(`${PATH}(${ID})(?![\\da-f-])`, 'g');
const FILE_ID = new RegExp(`^${ID}$`);

/**
 * Returns the ids of the files that events use, each once: files that store the bytes of Parts (up to MOST_KEPT_FILES),
 * then files whose URLs occur in texts (up to MOST_FILES).
 * @returns `undefined` if there are none, as for nearly all events
 */
export function filesNamedIn(events: readonly RecordedEvent[]): string[] | undefined {
  let found: Set<string> | undefined;
  for (const { json, event } of events) {
    for (const id of keptFilesIn(json, event)) if ((found ??= new Set()).size < MOST_KEPT_FILES) found.add(id);
  }
  const most = (found?.size ?? 0) + MOST_FILES;
  for (const recorded of events) {
    for (const text of textsOf(recorded)) {
      if (!text.includes(PATH)) continue;
      for (const [, id = ''] of text.matchAll(FILE_PATH)) {
        if ((found ??= new Set()).size < most) found.add(id);
      }
    }
  }
  return found && [...found];
}

/**
 * Returns the ids of the stored files of an event's Parts. Only the metadata of Parts is read, not the text of the
 * JSON, because an agent may write anything into a text.
 */
function keptFilesIn(json: string, event: TaskEvent): string[] {
  const received = ('statusUpdate' in event && event.received?.parts) || [];
  const parts = json.includes(KEPT_FILE) ? [...received, ...saidIn(event)] : received;
  const ids = parts.flatMap((part) => keptFileOf(part)?.id ?? []);
  return ids.filter((id) => FILE_ID.test(id));
}

function saidIn(event: TaskEvent): Part[] {
  if ('artifactUpdate' in event) return event.artifactUpdate.artifact.parts;
  if ('statusUpdate' in event) return event.statusUpdate.status.message?.parts ?? [];
  return (event.task.history ?? []).flatMap(({ parts }) => parts);
}

/** Returns the texts of an event in which to search for file URLs. The JSON does not contain the received Message. */
function textsOf({ json, event }: RecordedEvent): string[] {
  const received = 'statusUpdate' in event ? event.received : undefined;
  return received ? [json, ...received.parts.flatMap(({ url }) => url ?? [])] : [json];
}

const TWO_TO_16 = 65_536;
const BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
/** Cache for `newTaskId`: the upper 32 bits of the time in the newest id, and these bits as hexadecimal text. */
let [upper, beginning] = [Number.NaN, ''];

/**
 * Returns a text that sorts before the ids of all Tasks that Parley creates at `time` or later, and after the ids of
 * all earlier Tasks.
 */
export function firstTaskIdOf(time: Date): string {
  const hex = time.getTime().toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}

/** Returns a new UUIDv7 (RFC 9562). Ids that are created in sequence are adjacent in an index. */
export function newTaskId(): string {
  const now = Date.now();
  const lower = now % TWO_TO_16;
  if (now - lower !== upper) [upper, beginning] = [now - lower, firstTaskIdOf(new Date(now)).slice(0, 9)];
  const random = randomDigits(19);
  const variant = '89ab'.charAt(random.charCodeAt(18) & 3);
  return `${beginning}${BYTES[lower >> 8]!}${BYTES[lower & 255]!}-7${random.slice(0, 3)}-${variant}${random.slice(3, 6)}-${random.slice(6, 18)}`;
}

/** Name of the job that resumes a parked Task (one that only waits for a time) at its time. */
export const WAKE = 'tasks.wake';

/**
 * Returns the job that wakes a waiting Task at its time. A Task waits for one time, so it has at most one pending wake
 * job.
 */
export function wakeJob(taskId: string, runAt: Date): Job {
  return { name: WAKE, payload: { taskId }, key: `${WAKE}/${taskId}`, runAt };
}

/** Returns the Task id of a wake job. @throws TypeError for a payload of another shape */
export function readWakePayload(payload: unknown): { taskId: string } {
  const { taskId } = (payload ?? {}) as Record<string, unknown>;
  if (typeof taskId !== 'string') throw new TypeError('The job names no task');
  return { taskId };
}
