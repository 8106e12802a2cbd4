import {
  type Artifact,
  artifactUpdate,
  ContentTooLarge,
  firstText,
  briefText,
  runEventMetadata,
  type RunEventNote,
  runEventNote,
  statusUpdate,
  textPart,
  type TaskReference,
  type TaskState,
  timestampNow,
} from '#libs/protocol';
import type { RequestContext } from '#libs/executor';
import type { TaskEvent } from '#libs/tasks';
import { nodeReused, resultEmptied } from './control-steps.js';
import { outputText } from './node-output.js';
import { asOneArtifact } from './passed-content.js';
import { questionDeadline } from './node-clock.js';
import type { CanceledChild, NodeRun, RunError } from './node-run.js';
import { askingMessage, openQuestion, questionText, waitingMetadata } from './run-questions.js';
import type { ReusedResult } from './rerun/reused-results.js';
import { runStatus, type RunState } from './run-state.js';
import { runParked } from './control-steps.js';
import {
  AUTH_REQUIRED,
  done,
  type FailedPayload,
  inputRequired,
  nodeCompleted,
  runErrorOf,
  workflowCanceled,
  workflowFailed,
} from './run-steps.js';
import type { WorkflowGraph } from './workflow-graph.js';

/** A step as an event of the run's Task that changes nothing else. */
export function stepEvent(reference: TaskReference, note: Parameters<typeof runEventMetadata>[0]): TaskEvent {
  return statusUpdate(reference, 'TASK_STATE_WORKING', undefined, runEventMetadata(note));
}

/** What is said of a node's success. */
export interface Completion {
  status: string;
  artifacts: Artifact[];
  /** The edges from it that are taken, where that was decided. */
  taken?: number[];
  fallback?: true;
}

/**
 * A node's success. The output of a result node is an Artifact of the run, named by the node, and the event carries it;
 * that of an entry of a list is not, but that of the list.
 */
export function completedEvent(
  reference: TaskReference,
  graph: WorkflowGraph,
  node: NodeRun,
  { artifacts, ...payload }: Completion,
): TaskEvent {
  return resultEvent(reference, graph, node, artifacts, (carried) =>
    nodeCompleted.note(node, { ...payload, ...carried }),
  );
}

/** A result that was taken over, likewise. */
export function reusedEvent(
  reference: TaskReference,
  graph: WorkflowGraph,
  node: NodeRun,
  { artifacts, ...payload }: ReusedResult & { taken?: number[] },
): TaskEvent {
  return resultEvent(reference, graph, node, artifacts, (carried) => nodeReused.note(node, { ...payload, ...carried }));
}

function resultEvent(
  reference: TaskReference,
  graph: WorkflowGraph,
  node: NodeRun,
  artifacts: Artifact[],
  noteOf: (carried: { artifacts?: Artifact[] }) => RunEventNote,
): TaskEvent {
  const [only] = artifacts;
  const isResult = graph.isResult(node.id) && node.list === undefined;
  if (only === undefined || !isResult) return stepEvent(reference, noteOf({ artifacts }));
  const result = { ...only, artifactId: node.id, name: node.id, parts: asOneArtifact(node.id, artifacts) };
  const note = noteOf(artifacts.length > 1 ? { artifacts } : {});
  const timestamp = new Date().toISOString();
  return artifactUpdate(reference, result, { lastChunk: true, metadata: runEventMetadata({ ...note, timestamp }) });
}

/** Empties the Artifact of a result node whose newest instance was left out: A2A has no way to take an Artifact back. */
export function emptiedResultEvent(reference: TaskReference, node: NodeRun): TaskEvent {
  const artifact = { artifactId: node.id, name: node.id, parts: [textPart('')] };
  const note = { ...resultEmptied.note(node, {}), timestamp: timestampNow() };
  return artifactUpdate(reference, artifact, { lastChunk: true, metadata: runEventMetadata(note) });
}

/** The end of a run whose nodes have all completed; its status says the first output. */
export function completedEvents(reference: TaskReference, graph: WorkflowGraph, state: RunState): TaskEvent[] {
  const texts = graph.resultNodes().map(({ id }) => outputText(state.node(id)));
  const said = texts.find((text) => text !== '');
  return [endEvent(reference, state, 'TASK_STATE_COMPLETED', said)];
}

/** The end of a run after its first failure. */
export function failedEvents(
  reference: TaskReference,
  state: RunState,
  fault = state.error?.message ?? '',
): TaskEvent[] {
  const { kind, node, instance, message }: RunError = state.error ?? { kind: 'refused', message: fault };
  const failure = kind && { kind, message, ...(node !== undefined && { node }), ...(instance && { instance }) };
  const payload = { error: fault, ...(node !== undefined && { node }), ...(failure && { failure }) };
  const note = workflowFailed.note(payload);
  const end = endEvent(reference, state, 'TASK_STATE_FAILED', fault);
  return state.failureReported ? [end] : [stepEvent(reference, note), end];
}

/** Why a run failed, as the event right before its end tells it; `undefined` where it is another event. */
export function reportedError(event: TaskEvent): RunError | undefined {
  const note = 'statusUpdate' in event ? runEventNote(event.statusUpdate.metadata) : undefined;
  return note?.type === workflowFailed.type ? runErrorOf(note.payload as unknown as FailedPayload) : undefined;
}

/** The end of a run that a caller canceled, and what became of its children. */
export function canceledEvents(reference: TaskReference, state: RunState, children: CanceledChild[]): TaskEvent[] {
  const note = workflowCanceled.note({ children });
  return [stepEvent(reference, note), endEvent(reference, state, 'TASK_STATE_CANCELED', undefined)];
}

/**
 * The run waits: every waiting node is named, and the status asks what the first of them asks; it is AUTH_REQUIRED where
 * that is authentication.
 * @param isRoot whether nobody but a person can answer: what called for a run asks for it
 * @param wakeAt when the run has something to do even if nobody answers, in milliseconds of the epoch
 */
export function waitingEvents(
  reference: TaskReference,
  state: RunState,
  isRoot: boolean,
  wakeAt: number | undefined,
): TaskEvent[] {
  const { graph, frontier } = state;
  const { waiting } = frontier;
  const [first, ...others] = waiting;
  if (first === undefined) return [];
  const wants = first.wantsAuth ? 'TASK_STATE_AUTH_REQUIRED' : 'TASK_STATE_INPUT_REQUIRED';
  // What is asked for the first time is open since then: all that is said of it has the time of these events.
  const now = timestampNow();
  const all = graph.isPlain ? {} : waitingMetadata(graph, waiting, { runId: reference.taskId, now });
  const asking = statusUpdate(reference, wants, undefined, { ...runEventMetadata(askNote(first)), ...all });
  asking.statusUpdate.status.message = askingMessage(reference, first, all);
  // Hundreds may wait: only a plain log repeats each with every answer to another.
  const unsaid = others.filter(({ isAsked }) => graph.isPlain || !isAsked);
  const until = earliest(
    wakeAt,
    ...waiting.map(({ id, openSince }) => questionDeadline(graph.node(id), openSince ?? now)),
  );
  const event = {
    ...asking,
    ...(isRoot && { questions: waiting.map((node) => openQuestion(graph, node, now)) }),
    ...(until !== undefined && parks(until)),
  };
  return [...unsaid.map((node) => stepEvent(reference, askNote(node))), event].map((each) => stamped(each, now));
}

function stamped(event: TaskEvent, timestamp: string): TaskEvent {
  if ('statusUpdate' in event) event.statusUpdate.status.timestamp = timestamp;
  return event;
}

export function earliest(...times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length > 0 ? Math.min(...known) : undefined;
}

/** Nothing is left but times, none of which is near. */
export function parkedEvent(reference: TaskReference, wakeAt = Date.now()): TaskEvent {
  const until = parks(wakeAt);
  return { ...stepEvent(reference, runParked.note({ until: until.parks.toISOString() })), ...until };
}

function parks(wakeAt: number): { parks: Date } {
  return { parks: new Date(wakeAt) };
}

/** What became of the children that were told to stop, as the run knows it. */
export function canceledChildren(nodes: Iterable<NodeRun>): CanceledChild[] {
  return [...nodes].flatMap(({ id, instance, agentUrl = '', taskId, cancelOutcome: outcome }) => {
    if (outcome === undefined) return [];
    return [
      { node: id, ...(instance !== id && { instance }), agentUrl, ...(taskId !== undefined && { taskId }), outcome },
    ];
  });
}

/** A step or an end without the run's state, and with the beginning of its texts. */
export function shortened(event: TaskEvent): TaskEvent {
  if (!('statusUpdate' in event)) return event;
  const { status, metadata, ...reference } = event.statusUpdate;
  const note = runEventNote(metadata);
  const text = firstText(status.message?.parts ?? []);
  const { state: _state, error, ...payload } = note?.payload ?? {};
  const words = { ...payload, ...(typeof error === 'string' && { error: briefText(error) }) };
  const { parks: until, questions, facts } = event;
  return {
    ...statusUpdate(
      reference,
      status.state,
      text === undefined ? undefined : briefText(text),
      note && runEventMetadata({ ...note, payload: words }),
    ),
    ...(until && { parks: until }),
    ...(questions && { questions }),
    ...(facts && { facts }),
  };
}

function askNote(node: NodeRun): ReturnType<typeof inputRequired.note> {
  const { taskId } = node;
  return inputRequired.note(node, {
    question: questionText(node),
    ...(taskId !== undefined && { taskId }),
    ...(node.wantsAuth && { state: AUTH_REQUIRED }),
  });
}

function endEvent(reference: TaskReference, state: RunState, end: TaskState, text: string | undefined): TaskEvent {
  const payload = {
    status: runStatus(end),
    state: state.stateMap(),
    ...(runStatus(end) === 'failed' && { error: text }),
  };
  return statusUpdate(reference, end, text, runEventMetadata(done.note(payload)));
}

/** True if the Task of a run takes an event. */
export function isAdmitted(context: Pick<RequestContext, 'admit'>, event: TaskEvent): boolean {
  try {
    context.admit(event);
    return true;
  } catch (error) {
    if (error instanceof ContentTooLarge) return false;
    throw error;
  }
}
