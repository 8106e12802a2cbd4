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
 * What can happen to a Task. The first event of a Task is always `task` (SUBMITTED, with the accepted Message);
 * `received` is the caller's follow-up Message that a status update answers to; `jobs` are enqueued in the commit of the
 * event and are no part of the log, nor is `parks`: until then nobody has anything to do for the Task. The event gives
 * its claim up, and some replica goes on with it at that time, or when a Message or a cancel comes before. `questions`,
 * with a waiting state, is what an inbox shows of the Task until it goes on; it is no part of the log either. `facts` are
 * emitted after the commit of the event, by who made it.
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

/** One thing that a waiting Task asks. */
export interface TaskQuestion {
  /** What tells it from the others of the Task. */
  key: string;
  /** Who shall answer: a label. */
  assignee?: string;
  since: Date;
  /** Whatever else an inbox shows. */
  body: JsonObject;
}

/** A TaskEvent that PostgreSQL has committed. */
export interface RecordedEvent {
  taskId: string;
  /** Position in the Task's log: starts at 1, grows by 1. It is the SSE id and the replay cursor. */
  sequence: number;
  event: TaskEvent;
  /** The event as a ProtoJSON StreamResponse, serialised once; what streams send. */
  json: string;
  /** It as a row of the log has it, where that was made together with its JSON. */
  row?: string | undefined;
}

/** Until when an event leaves its Task to nobody; only known of an event that this process made. */
export function parkedUntil(event: TaskEvent): Date | undefined {
  if (!('statusUpdate' in event) || isTerminalState(event.statusUpdate.status.state)) return undefined;
  return event.parks;
}

/** The part of a TaskEvent that callers see. */
export function toStreamResponse(event: TaskEvent): StreamResponse {
  if ('statusUpdate' in event) return { statusUpdate: event.statusUpdate };
  if ('task' in event) return { task: event.task };
  return { artifactUpdate: event.artifactUpdate };
}
