import {
  firstData,
  firstText,
  type JsonObject,
  type JsonValue,
  type RunEventNote,
  runEventNote,
  type TaskStatusUpdateEvent,
} from '#libs/protocol';
import type { RecordedEvent, TaskEvent } from '#libs/tasks';
import { specIn } from './brainstorm-spec.js';
import type { BrainstormEventType } from './brainstorm-steps.js';

/** Event of a brainstorm's stream. */
export interface BrainstormEvent {
  type: BrainstormEventType;
  brainstormId: string;
  /** Position in the brainstorm's log, from 1 without gaps; the SSE id. */
  sequence: number;
  /** ISO 8601. */
  timestamp: string;
  payload: JsonObject;
}

/** Converts an event of a Task's log to an event of the brainstorm; there is exactly one for each. */
export function toBrainstormEvent({ taskId, sequence, event }: RecordedEvent): BrainstormEvent {
  const { type, payload, timestamp } = stepOf(event);
  return {
    type: type as BrainstormEventType,
    brainstormId: taskId,
    sequence,
    timestamp: timestamp ?? new Date(0).toISOString(),
    payload,
  };
}

function stepOf(event: TaskEvent): RunEventNote {
  if ('task' in event) {
    const { idea, agents, maxIterations } = specIn(event.task.metadata);
    const shown = agents.map(({ agent, name, role }) => ({ agent, name, role }));
    const { timestamp } = event.task.status;
    return { type: 'brainstorm.started', payload: { idea, agents: shown, maxIterations }, timestamp };
  }
  if ('artifactUpdate' in event) {
    const { artifact, metadata } = event.artifactUpdate;
    const note = runEventNote(metadata) ?? { type: 'iteration.completed', payload: {} };
    return { ...note, payload: { ...note.payload, state: firstData(artifact.parts) ?? null } };
  }
  const { statusUpdate, received } = event;
  const { timestamp } = statusUpdate.status;
  if (!received) return { ...statusStep(statusUpdate), timestamp };
  const payload = { messageId: received.messageId, parts: received.parts as unknown as JsonValue };
  return { type: 'iteration.requested', payload, timestamp };
}

/**
 * Returns the step of a status update. An end that the brainstorm did not write itself, since it was forced from
 * outside, has no note.
 */
function statusStep({ status, metadata }: TaskStatusUpdateEvent): RunEventNote {
  const note = runEventNote(metadata);
  if (note) return note;
  if (status.state === 'TASK_STATE_CANCELED') return { type: 'brainstorm.canceled', payload: { agents: [] } };
  const error = firstText(status.message?.parts ?? []) ?? 'The brainstorm failed';
  return { type: 'brainstorm.failed', payload: { error } };
}
