import {
  type Artifact,
  firstText,
  isJsonObject,
  isTerminalState,
  isWaitingState,
  type JsonObject,
  type JsonValue,
  type RunEventNote,
  runEventNote,
  type Task,
  type TaskArtifactUpdateEvent,
  type TaskStatusUpdateEvent,
} from '#libs/protocol';
import type { RecordedEvent, TaskEvent } from '#libs/tasks';
import { outputText } from './node-output.js';
import type { RunEventType } from './run-event-type.js';
import { readRunMetadata } from './run-metadata.js';
import { runStatus } from './run-state.js';
import { done, nodeCompleted } from './run-steps.js';

/** The fields of a payload that also stand beside it, for readers of flat events. */
export const FLAT_FIELDS = ['model', 'tool', 'url', 'status', 'error', 'result', 'output', 'message'] as const;

/** One step of a run, as its streams tell it. */
export interface RunEvent extends Partial<Record<(typeof FLAT_FIELDS)[number], JsonValue>> {
  /** `ev-` and 16 hex digits, the same whenever the event is read. */
  id: string;
  type: RunEventType;
  runId: string;
  /** The run's id under its first name, for readers from before `runId`. */
  session_id: string;
  workflow: string;
  /** Position in the run's log, from 1 without a gap; the SSE id. */
  sequence: number;
  /** ISO 8601. */
  timestamp: string;
  node_id?: string;
  node_type?: string;
  /** Where it is not the node's only one. */
  instance?: string;
  payload: JsonObject;
  /** On `done`: the run's state map, each node's output text under its id. */
  state?: JsonObject;
}

/** The run event that an event of a run's log is: there is exactly one for each. */
export function toRunEvent({ taskId, sequence, event }: RecordedEvent, run: { workflow: string }): RunEvent {
  const step = stepOf(event, run.workflow);
  const payload = step.type === done.type ? { session_id: taskId, runId: taskId, ...step.payload } : step.payload;
  return {
    id: eventId(taskId, sequence),
    type: step.type as RunEventType,
    runId: taskId,
    session_id: taskId,
    workflow: run.workflow,
    sequence,
    timestamp: step.timestamp ?? new Date(0).toISOString(),
    ...(step.node_id !== undefined && { node_id: step.node_id }),
    ...(step.node_type !== undefined && { node_type: step.node_type }),
    ...(step.instance !== undefined && { instance: step.instance }),
    ...flatFields(payload),
    ...(isJsonObject(payload['state']) && { state: payload['state'] }),
    payload,
  };
}

function stepOf(event: TaskEvent, workflow: string): RunEventNote {
  if ('task' in event) return openingStep(event.task, workflow);
  if ('artifactUpdate' in event) return artifactStep(event.artifactUpdate);
  const { statusUpdate, received } = event;
  const { timestamp } = statusUpdate.status;
  if (!received) return { ...withOutput(statusStep(statusUpdate)), timestamp };
  const { messageId, parts } = received;
  return { type: 'input.received', payload: { messageId, parts: parts as unknown as JsonValue }, timestamp };
}

/** The start of the run: a `node.started` without a node. */
function openingStep({ metadata, status }: Task, workflow: string): RunEventNote {
  const { inputs = {} } = readRunMetadata(metadata);
  return { type: 'node.started', payload: { workflow, inputs }, timestamp: status.timestamp };
}

function artifactStep({ artifact, metadata }: TaskArtifactUpdateEvent): RunEventNote {
  const note = runEventNote(metadata) ?? { type: nodeCompleted.type, payload: {} };
  const artifacts = note.payload['artifacts'] ?? ([artifact] as unknown as JsonValue);
  return withOutput({ ...note, payload: { ...note.payload, artifacts } });
}

/** An end that the run did not write itself has no step of its own: it was forced from outside. */
function statusStep({ status, metadata }: TaskStatusUpdateEvent): RunEventNote {
  const note = runEventNote(metadata);
  if (note) return note;
  const text = firstText(status.message?.parts ?? []);
  if (isWaitingState(status.state)) return { type: 'input.required', payload: { question: text ?? '' } };
  // Its time has come while it asks something.
  if (!isTerminalState(status.state)) return { type: 'run.woken', payload: {} };
  const word = runStatus(status.state);
  return done.note({ status: word, state: {}, ...(word === 'failed' && { error: text ?? 'The run failed' }) });
}

function withOutput(step: RunEventNote): RunEventNote {
  if (step.type !== nodeCompleted.type) return step;
  const artifacts = (step.payload['artifacts'] ?? []) as unknown as Artifact[];
  const output = outputText({ artifacts });
  return output === '' ? step : { ...step, payload: { ...step.payload, output } };
}

function flatFields(payload: JsonObject): Partial<RunEvent> {
  const fields: Partial<RunEvent> = {};
  for (const field of FLAT_FIELDS) {
    const value = payload[field];
    if (value !== undefined) fields[field] = value;
  }
  return fields;
}

/** Eight digits of the run's random part and eight of the sequence: the same for the same event, whoever tells it. */
function eventId(runId: string, sequence: number): string {
  // Of an id as this service makes them the end is random, and all of it are digits.
  const end = runId.slice(-8);
  const run = HEX.test(end) ? end : runId.replace(NO_HEX, '').slice(-8).padStart(8, '0');
  return `ev-${run}${sequence.toString(16).padStart(8, '0')}`;
}

const HEX = /^[0-9a-f]{8}$/;

const NO_HEX = /[^0-9a-f]/g;
