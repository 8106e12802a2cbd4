import type { RequestContext } from '#libs/agents';
import type { Job } from '#libs/jobs';
import {
  type Artifact,
  artifactUpdate,
  briefText,
  ContentTooLarge,
  failureMetadata,
  firstText,
  isWaitingState,
  runEventMetadata,
  type RunEventNote,
  runEventNote,
  statusUpdate,
  type TaskReference,
  type TaskState,
  textPart,
  timestampNow,
} from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { WorkflowGraph } from '#libs/workflow-definition';
import { asOneArtifact } from '../messages/node-message.js';
import { type CanceledChild, type NodeInstance, outputText, type RunError } from '../state/node-instance.js';
import { askingMessage, openQuestion, questionText, waitingMetadata } from '../state/run-questions.js';
import { type RunState, runStatus } from '../state/run-state.js';
import {
  AUTH_REQUIRED,
  done,
  type FailedPayload,
  inputRequired,
  nodeCompleted,
  nodeReused,
  resultEmptied,
  runErrorOf,
  runParked,
  workflowCanceled,
  workflowFailed,
} from '../state/run-steps.js';
import { questionDeadline } from '../state/timers.js';

/** Name of the job that rechecks the local children of a run which has begun to wait. `RunWaking` runs that job. */
export const LOOK_AGAIN = 'runs.look-again';

/** Sequence numbers of the last events of Tasks, by Task id. */
export type LastSequences = Readonly<Record<string, number>>;

/** Payload of the job: a run, and the last sequence numbers of the Tasks that it waits for, as of the latest check. */
export interface RecheckChildren {
  runId: string;
  children: LastSequences;
}

/**
 * Adds the recheck job to the commit of an event by which the run begins to wait. Returns any other event unchanged,
 * and every event if there are no local children.
 */
export function withRecheckJob(event: TaskEvent, { runId, children }: RecheckChildren): TaskEvent {
  if (!('statusUpdate' in event) || !isWaitingState(event.statusUpdate.status.state)) return event;
  if (Object.keys(children).length === 0) return event;
  const job: Job = { name: LOOK_AGAIN, key: `${LOOK_AGAIN}/${runId}`, payload: { runId, children } };
  return withJob(event, job);
}

/** Returns the event with a job added to its commit, if a job is given. */
export function withJob(event: TaskEvent, job: Job | undefined): TaskEvent {
  return job ? { ...event, jobs: [...(event.jobs ?? []), job] } : event;
}

/** Yields events. The job, if given, is added to the commit of the first event. */
export function* withFirstJob(events: Iterable<TaskEvent>, job: Job | undefined): Generator<TaskEvent> {
  let first = job;
  for (const event of events) {
    yield withJob(event, first);
    first = undefined;
  }
}

/**
 * Parses the payload of the recheck job.
 * @throws TypeError for a payload of another shape
 */
export function readRecheckJob(payload: unknown): RecheckChildren {
  const { runId, children } = (payload ?? {}) as Record<string, unknown>;
  if (typeof runId !== 'string' || typeof children !== 'object' || children === null)
    throw new TypeError('It names no run');
  return { runId, children: children as LastSequences };
}

/** Creates the event of the run's Task that records a step and changes nothing else. */
export function stepEvent(reference: TaskReference, note: Parameters<typeof runEventMetadata>[0]): TaskEvent {
  return statusUpdate(reference, 'TASK_STATE_WORKING', undefined, runEventMetadata(note));
}

/**
 * Result of a completed instance. `fallback` is set if the result is the node's `fallback`, because all attempts
 * failed.
 */
export interface OriginResult {
  artifacts: Artifact[];
  fallback?: true;
}

/** Result that a rerun reuses from its original run. */
export interface ReusedResult extends OriginResult {
  /** Id of the original run. */
  origin: string;
}

/** Result of a node that completes. */
export interface Completion {
  status: string;
  artifacts: Artifact[];
  /** Indexes of the taken edges, if edges had to be decided. */
  taken?: number[];
  fallback?: true;
}

/**
 * Creates the event of a node's completion. For a result node (`WorkflowGraph.resultNodes`), the event carries the
 * result as an Artifact of the run, named by the node id. The event of a list entry carries no Artifact; the event of
 * the node that processes the list carries one.
 */
export function completedEvent(
  reference: TaskReference,
  graph: WorkflowGraph,
  node: NodeInstance,
  { artifacts, ...payload }: Completion,
): TaskEvent {
  return resultEvent(reference, graph, node, artifacts, (carried) =>
    nodeCompleted.createNote(node, { ...payload, ...carried }),
  );
}

/**
 * Creates the event of a result that a rerun reuses. For a result node, the event carries the result as an Artifact of
 * the run, named by the node id.
 */
export function reusedEvent(
  reference: TaskReference,
  graph: WorkflowGraph,
  node: NodeInstance,
  { artifacts, ...payload }: ReusedResult & { taken?: number[] },
): TaskEvent {
  return resultEvent(reference, graph, node, artifacts, (carried) =>
    nodeReused.createNote(node, { ...payload, ...carried }),
  );
}

function resultEvent(
  reference: TaskReference,
  graph: WorkflowGraph,
  node: NodeInstance,
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

/**
 * Creates the event that replaces the Artifact of a result node by an empty text, because its newest instance was
 * skipped or canceled. A2A cannot remove an Artifact.
 */
export function emptiedResultEvent(reference: TaskReference, node: NodeInstance): TaskEvent {
  const artifact = { artifactId: node.id, name: node.id, parts: [textPart('')] };
  const note = { ...resultEmptied.createNote(node, {}), timestamp: timestampNow() };
  return artifactUpdate(reference, artifact, { lastChunk: true, metadata: runEventMetadata(note) });
}

/** Returns the events that end a completed run. The status has the first output text. */
export function completedEvents(reference: TaskReference, graph: WorkflowGraph, state: RunState): TaskEvent[] {
  const texts = graph.resultNodes().map(({ id }) => outputText(state.getNode(id)));
  const said = texts.find((text) => text !== '');
  return [endEvent(reference, state, 'TASK_STATE_COMPLETED', said)];
}

/**
 * Returns the events that end a failed run.
 * @param fault reason of the failure, by default the run's first unhandled failure
 */
export function failedEvents(
  reference: TaskReference,
  state: RunState,
  fault = state.error?.message ?? '',
): TaskEvent[] {
  const { kind, node, instance, message }: RunError = state.error ?? { kind: 'refused', message: fault };
  const failure = kind && { kind, message, ...(node !== undefined && { node }), ...(instance && { instance }) };
  const payload = { error: fault, ...(node !== undefined && { node }), ...(failure && { failure }) };
  const note = workflowFailed.createNote(payload);
  const end = endEvent(reference, state, 'TASK_STATE_FAILED', fault);
  if (kind === 'budget-exceeded') addFailureKind(end, kind);
  return state.failureReported ? [end] : [stepEvent(reference, note), end];
}

/** Adds the kind of the failure to the last event of a run, for the run that called it. */
function addFailureKind(end: TaskEvent, kind: string): void {
  const message = 'statusUpdate' in end ? end.statusUpdate.status.message : undefined;
  if (message) message.metadata = { ...message.metadata, ...failureMetadata({ kind }) };
}

/**
 * Returns the error of the run from its `workflow.failed` event, which is the event before the last one of a failed
 * run. `undefined` for any other event.
 */
export function reportedError(event: TaskEvent): RunError | undefined {
  const note = 'statusUpdate' in event ? runEventNote(event.statusUpdate.metadata) : undefined;
  return note?.type === workflowFailed.type ? runErrorOf(note.payload as unknown as FailedPayload) : undefined;
}

/**
 * Returns the events that end a canceled run, with the outcome of the cancel for each child.
 * @param reason reason why the run itself ends so, if it was not canceled by a request
 */
export function canceledEvents(
  reference: TaskReference,
  state: RunState,
  children: CanceledChild[],
  reason?: string,
): TaskEvent[] {
  const note = workflowCanceled.createNote({ children, ...(reason !== undefined && { reason }) });
  return [stepEvent(reference, note), endEvent(reference, state, 'TASK_STATE_CANCELED', reason)];
}

/**
 * Returns the events by which a run begins to wait: the questions of its waiting nodes, one event each.
 * - The last event asks the question of the first waiting node. Its status is AUTH_REQUIRED if that node waits for
 *   authentication, otherwise INPUT_REQUIRED.
 * - Questions that were asked before are not repeated, except by the run of a plain definition
 *   (`WorkflowGraph.isPlain`).
 * @param isRoot true if no caller inside the service answers, so that the questions go to the inbox
 * @param wakeAt time at which the run continues without an answer, in milliseconds of the epoch
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
  // New questions open at the time of these events, so all of them share one timestamp.
  const now = timestampNow();
  const all = graph.isPlain ? {} : waitingMetadata(graph, waiting, { runId: reference.taskId, now });
  const asking = statusUpdate(reference, wants, undefined, { ...runEventMetadata(askNote(first)), ...all });
  asking.statusUpdate.status.message = askingMessage(reference, first, all);
  // Hundreds of nodes may wait, so only a plain log repeats every question with each answer.
  const unsaid = others.filter(({ isAsked }) => graph.isPlain || !isAsked);
  const until = earliestTime(
    wakeAt,
    ...waiting.map(({ id, openSince }) => questionDeadline(graph.node(id), openSince ?? now)),
  );
  const event = {
    ...asking,
    ...(isRoot && { questions: waiting.map((node) => openQuestion(graph, node, now)) }),
    ...(until !== undefined && parkingDate(until)),
  };
  return [...unsaid.map((node) => stepEvent(reference, askNote(node))), event].map((each) => withTimestamp(each, now));
}

function withTimestamp(event: TaskEvent, timestamp: string): TaskEvent {
  if ('statusUpdate' in event) event.statusUpdate.status.timestamp = timestamp;
  return event;
}

export function earliestTime(...times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length > 0 ? Math.min(...known) : undefined;
}

/**
 * Creates the event that parks a run: the run only waits for timers that are not due soon, so its process releases it.
 */
export function parkedEvent(reference: TaskReference, wakeAt = Date.now()): TaskEvent {
  const until = parkingDate(wakeAt);
  return { ...stepEvent(reference, runParked.createNote({ until: until.parks.toISOString() })), ...until };
}

function parkingDate(wakeAt: number): { parks: Date } {
  return { parks: new Date(wakeAt) };
}

/** Returns the outcome of the cancel for each canceled child of a run. */
export function canceledChildren(nodes: Iterable<NodeInstance>): CanceledChild[] {
  return [...nodes].flatMap(({ id, instance, agentUrl = '', taskId, cancelOutcome: outcome }) => {
    if (outcome === undefined) return [];
    return [
      { node: id, ...(instance !== id && { instance }), agentUrl, ...(taskId !== undefined && { taskId }), outcome },
    ];
  });
}

/**
 * Returns an event without the run's state map and with truncated texts. It is recorded instead of an event that is too
 * large.
 */
export function shortenEvent(event: TaskEvent): TaskEvent {
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

function askNote(node: NodeInstance): ReturnType<typeof inputRequired.createNote> {
  const { taskId } = node;
  return inputRequired.createNote(node, {
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
  return statusUpdate(reference, end, text, runEventMetadata(done.createNote(payload)));
}

/** True if an event fits within the size limits of the run's Task. */
export function isAdmitted(context: Pick<RequestContext, 'assertRecordable'>, event: TaskEvent): boolean {
  try {
    context.assertRecordable(event);
    return true;
  } catch (error) {
    if (error instanceof ContentTooLarge) return false;
    throw error;
  }
}
