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

/** Fields of a payload that are repeated on the event itself, for readers of flat events. */
export const FLAT_FIELDS = ['model', 'tool', 'url', 'status', 'error', 'result', 'output', 'message'] as const;

/** A step of a run as its streams report it. */
export interface StreamedRunEvent extends Partial<Record<(typeof FLAT_FIELDS)[number], JsonValue>> {
  /** `ev-` and 16 hex digits; the same at each read. */
  id: string;
  type: RunEventType;
  runId: string;
  /** Id of the run under its earlier name. */
  session_id: string;
  workflow: string;
  /** Position in the run's log, from 1 without a gap; the SSE id. */
  sequence: number;
  /** ISO 8601. */
  timestamp: string;
  node_id?: string;
  node_type?: string;
  /** Name of the instance, if it is not the node's only one. */
  instance?: string;
  payload: JsonObject;
  /** State map of the run on `done`: each node's output text under its id. */
  state?: JsonObject;
}

/** Converts an event of a run's log to the run event for it. The mapping is one to one. */
export function toRunEvent({ taskId, sequence, event }: RecordedEvent, run: { workflow: string }): StreamedRunEvent {
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

/** Returns the start of the run: a `node.started` without a node. */
function openingStep({ metadata, status }: Task, workflow: string): RunEventNote {
  const { inputs = {} } = readRunMetadata(metadata);
  return { type: 'node.started', payload: { workflow, inputs }, timestamp: status.timestamp };
}

function artifactStep({ artifact, metadata }: TaskArtifactUpdateEvent): RunEventNote {
  const note = runEventNote(metadata) ?? { type: nodeCompleted.type, payload: {} };
  const artifacts = note.payload['artifacts'] ?? ([artifact] as unknown as JsonValue);
  return withOutput({ ...note, payload: { ...note.payload, artifacts } });
}

/** Returns the step of a status event. An end without a step was forced from outside. */
function statusStep({ status, metadata }: TaskStatusUpdateEvent): RunEventNote {
  const note = runEventNote(metadata);
  if (note) return note;
  const text = firstText(status.message?.parts ?? []);
  if (isWaitingState(status.state)) return { type: 'input.required', payload: { question: text ?? '' } };
  // A timer has become due while the run asks a question.
  if (!isTerminalState(status.state)) return { type: 'run.woken', payload: {} };
  const word = runStatus(status.state);
  return done.createNote({ status: word, state: {}, ...(word === 'failed' && { error: text ?? 'The run failed' }) });
}

function withOutput(step: RunEventNote): RunEventNote {
  if (step.type !== nodeCompleted.type) return step;
  const artifacts = (step.payload['artifacts'] ?? []) as unknown as Artifact[];
  const output = outputText({ artifacts });
  return output === '' ? step : { ...step, payload: { ...step.payload, output } };
}

function flatFields(payload: JsonObject): Partial<StreamedRunEvent> {
  const fields: Partial<StreamedRunEvent> = {};
  for (const field of FLAT_FIELDS) {
    const value = payload[field];
    if (value !== undefined) fields[field] = value;
  }
  return fields;
}

/**
 * Returns the id of an event: eight digits from the run's random part and eight from the sequence. It is the same on
 * every replica.
 */
function eventId(runId: string, sequence: number): string {
  // The end of an id of this service is random and consists of hex digits.
  const end = runId.slice(-8);
  const run = HEX.test(end) ? end : runId.replace(NO_HEX, '').slice(-8).padStart(8, '0');
  return `ev-${run}${sequence.toString(16).padStart(8, '0')}`;
}

const HEX = /^[0-9a-f]{8}$/;

const NO_HEX = /[^0-9a-f]/g;
