import { REVISION_KEY } from '#libs/agents';
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
import type { RecordedEvent, TaskEvent, TaskHeader } from '#libs/tasks';
import { outputText } from '../state/node-instance.js';
import { readRunMetadata, type RunEventType } from '../state/run-metadata.js';
import { runStatus } from '../state/run-state.js';
import { done, nodeCompleted } from '../state/run-steps.js';

/** Fields of the payload that are also members of the event, for readers that do not read `payload`. */
const FLAT_FIELDS = ['model', 'tool', 'url', 'status', 'error', 'result', 'output', 'message'] as const;

/** A step of a run as its streams report it. */
export interface StreamedRunEvent extends Partial<Record<(typeof FLAT_FIELDS)[number], JsonValue>> {
  /** Id of the event: `ev-` and 16 hex digits; the same at each read. */
  id: string;
  type: RunEventType;
  runId: string;
  /** Id of the run, under the name that an earlier version used. */
  session_id: string;
  workflow: string;
  /** Sequence number in the run's log, from 1 without a gap; the id of the SSE event. */
  sequence: number;
  /** Time of the event (ISO 8601). */
  timestamp: string;
  node_id?: string;
  node_type?: string;
  /** Name of the instance, if it is not the node's only one. */
  instance?: string;
  payload: JsonObject;
  /** State map of the run, on `done` only: each node's output text under its id. */
  state?: JsonObject;
}

/** Converts an event of a run's log to the event that streams report. The mapping is one to one. */
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

/** Returns the step for the first event of a run's log: a `node.started` without a node. */
function openingStep({ metadata, status }: Task, workflow: string): RunEventNote {
  const { inputs = {} } = readRunMetadata(metadata);
  return { type: 'node.started', payload: { workflow, inputs }, timestamp: status.timestamp };
}

function artifactStep({ artifact, metadata }: TaskArtifactUpdateEvent): RunEventNote {
  const note = runEventNote(metadata) ?? { type: nodeCompleted.type, payload: {} };
  const artifacts = note.payload['artifacts'] ?? ([artifact] as unknown as JsonValue);
  return withOutput({ ...note, payload: { ...note.payload, artifacts } });
}

/**
 * Returns the step of a status event: the step that the event records. An event without a recorded step is converted by
 * its state:
 * - waiting: `input.required` with the question,
 * - terminal: `done`, because the run was ended from outside,
 * - any other: `run.woken`, because a timer became due while the run waited.
 */
function statusStep({ status, metadata }: TaskStatusUpdateEvent): RunEventNote {
  const note = runEventNote(metadata);
  if (note) return note;
  const text = firstText(status.message?.parts ?? []);
  if (isWaitingState(status.state)) return { type: 'input.required', payload: { question: text ?? '' } };
  // A timer became due while the run was asking a question.
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
 * Returns the id of an event: eight hex digits from the random part of the run's id, and eight from the sequence
 * number. It is the same on every replica.
 */
function eventId(runId: string, sequence: number): string {
  // The end of a run id that this service created is random, and consists of hex digits.
  const end = runId.slice(-8);
  const run = HEX.test(end) ? end : runId.replace(NO_HEX, '').slice(-8).padStart(8, '0');
  return `ev-${run}${sequence.toString(16).padStart(8, '0')}`;
}

const HEX = /^[0-9a-f]{8}$/;

const NO_HEX = /[^0-9a-f]/g;

const RUN_AGENT = /^workflows\/([^/]+)$/;

/**
 * True if a Task is the run of a workflow that was called directly: its agent is `workflows/<name>`. The run of a
 * `workflow` node has that node as its agent; see `mayBeRun`.
 */
export function isRun(header: Pick<TaskHeader, 'agent'>): boolean {
  return RUN_AGENT.test(header.agent);
}

/**
 * True if a Task may be a run: of a workflow, or of a `workflow` node. For a node, the metadata of the Task tell
 * whether it is a run (`workflowRunBy`).
 */
export function mayBeRun({ agent }: Pick<TaskHeader, 'agent'>): boolean {
  return agent.startsWith('workflows/');
}

/** Returns the name of the workflow that a Task executes; `undefined` if the Task is not a run. */
export function workflowRunBy(header: TaskHeader, task: Task | undefined): string | undefined {
  return isRun(header) ? workflowOf(header) : readRunMetadata(task?.metadata).workflow;
}

/** Returns the name of a run's workflow from its agent; empty for the run of a `workflow` node. */
export function workflowOf(header: Pick<TaskHeader, 'agent'>): string {
  return RUN_AGENT.exec(header.agent)?.[1] ?? '';
}

/** Returns the revision that a run was started with; `undefined` if its Task does not name one. */
export function revisionOf(task: Task): string | undefined {
  const noted = task.metadata?.[REVISION_KEY];
  return readRunMetadata(task.metadata).revision ?? (typeof noted === 'string' ? noted : undefined);
}

/** Returns the member `revision` of the view of a run; an empty object if the run's Task does not name its revision. */
export function revisionMember([first]: readonly TaskEvent[]): { revision?: string } {
  const revision = first && 'task' in first ? revisionOf(first.task) : undefined;
  return revision === undefined ? {} : { revision };
}

/** Returns a function that converts the events of a run's log to the events that streams report. */
export function runEvents(workflow: string): (recorded: RecordedEvent) => StreamedRunEvent {
  return (recorded) => toRunEvent(recorded, { workflow });
}

/** Types of the events in the stream `tool`, to which clients subscribe separately. */
const TOOL_STEPS: ReadonlySet<string> = new Set(['tool.call', 'tool.called', 'tool.result', 'tool.canceled']);

/**
 * Returns the event for the event gateway, in the stream `run` or `tool`; `undefined` for a Task that is not the run of
 * a workflow (`isRun`).
 */
export function runProjection(
  recorded: RecordedEvent & { header: TaskHeader },
): { stream: 'run' | 'tool'; event: StreamedRunEvent; runId: string } | undefined {
  if (!isRun(recorded.header)) return undefined;
  const event = toRunEvent(recorded, { workflow: workflowOf(recorded.header) });
  return { stream: TOOL_STEPS.has(event.type) ? 'tool' : 'run', event, runId: recorded.taskId };
}
