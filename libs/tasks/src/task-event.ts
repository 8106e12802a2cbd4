import type { Job } from '#libs/jobs';
import type { Fact } from '#libs/service';
import {
  isTerminalState,
  type JsonObject,
  type Message,
  type StreamResponse,
  type Task,
  type TaskArtifactUpdateEvent,
  type TaskStatusUpdateEvent,
} from '#libs/protocol';

/**
 * Event of a Task. The first event is always `task` (SUBMITTED, with the accepted Message).
 * - `received`: the caller's follow-up Message that the status update answers. It is part of the log.
 * - `jobs`: enqueued in the commit of the event; not part of the log.
 * - `parks`: time until which the Task is parked; not part of the log. The event releases the claim, and any replica
 *   resumes the Task at that time, or earlier on a Message or a cancel.
 * - `questions`: with a waiting state, the entries that an inbox shows until the Task resumes; not part of the log.
 * - `facts`: emitted after the commit by the process that made the event.
 */
export type TaskEvent =
  | { task: Task; jobs?: readonly Job[] }
  | {
      statusUpdate: TaskStatusUpdateEvent;
      received?: Message;
      jobs?: readonly Job[];
      parks?: Date;
      questions?: readonly TaskQuestion[];
      facts?: readonly Fact[];
    }
  | { artifactUpdate: TaskArtifactUpdateEvent; jobs?: readonly Job[] };

/** Question of a waiting Task. */
export interface TaskQuestion {
  /** Key, unique within the Task. */
  key: string;
  /** Label of the person or group that should answer. */
  assignee?: string;
  since: Date;
  /** Further content for an inbox. */
  body: JsonObject;
}

/** TaskEvent with its position in the log. */
export interface RecordedEvent {
  taskId: string;
  /** Position in the Task's log, from 1 without gaps. It is the SSE id and the replay cursor. */
  sequence: number;
  event: TaskEvent;
  /** The event as a ProtoJSON StreamResponse, serialized once. Streams send it. */
  json: string;
  /** The event encoded as a log row; set if the row was built together with the JSON. */
  row?: string | undefined;
}

/** Returns the time until which an event parks its Task. Known only for events that this process made. */
export function parkedUntil(event: TaskEvent): Date | undefined {
  if (!('statusUpdate' in event) || isTerminalState(event.statusUpdate.status.state)) return undefined;
  return event.parks;
}

/** Returns the part of a TaskEvent that callers see. */
export function toStreamResponse(event: TaskEvent): StreamResponse {
  if ('statusUpdate' in event) return { statusUpdate: event.statusUpdate };
  if ('task' in event) return { task: event.task };
  return { artifactUpdate: event.artifactUpdate };
}
