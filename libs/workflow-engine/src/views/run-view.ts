import {
  type Artifact,
  type CallCancelOutcome,
  type JsonObject,
  type Part,
  type RunEventNote,
  withoutUserinfo,
} from '#libs/protocol';
import { noteOf, type TaskEvent, type TaskHeader } from '#libs/tasks';
import type { WorkflowDefinition, WorkflowFailure, WorkflowNode } from '#libs/workflow-definition';
import { childReference, nodeUrl } from '../execution/node-dispatch.js';
import type { LaterOutcome } from '../execution/run-services.js';
import { messageParts, nodeContent } from '../messages/node-message.js';
import { expressionRun, RunEvaluation } from '../messages/run-evaluation.js';
import { FailedExpression } from '../messages/run-expressions.js';
import { isOwn } from '../state/frontier.js';
import {
  type CanceledChild,
  isRepeated,
  type NodeInstance,
  type NodeStatus,
  type RunError,
  type RunStatus,
  type SkipReason,
} from '../state/node-instance.js';
import { type PromptEdit, readRunMetadata } from '../state/run-metadata.js';
import { instanceOf } from '../state/run-progress.js';
import { askingEntries, questionsText, questionText } from '../state/run-questions.js';
import { RunState } from '../state/run-state.js';
import { a2aSending, AUTH_REQUIRED, nodeCompleted, nodeReused } from '../state/run-steps.js';
import { revisionMember } from './run-event.js';

/**
 * Returns a failure for the API, where a failure always has a kind: `failed` if the log names no kind (see
 * `RunError.kind`).
 */
export function shownFailure(error: RunError): WorkflowFailure {
  return { kind: 'failed', ...error };
}

/** An instance of a node, in the list of a run's instances. */
export interface InstanceView {
  instance: string;
  node: string;
  status: NodeStatus;
  attempts: number;
  taskId?: string;
  error?: WorkflowFailure;
  /** Reason why the instance is skipped; absent in any other status. */
  because?: SkipReason;
  /** Reason and end (ISO 8601) of a pause in which the instance only waits; absent if it does not wait. */
  waitsFor?: { state: string; until?: string };
  /** Id of the run whose result was reused. */
  origin?: string;
  startedAt?: string;
  finishedAt?: string;
}

/** Number of instances of a node: in total, and by status. The numbers by status add up to `total`. */
export type InstanceCounts = { total: number; completed: number; failed: number } & Partial<Record<NodeStatus, number>>;

/** Filter and position of a page of instances. */
export interface InstanceQuery {
  node?: string;
  status?: NodeStatus;
  /** Number of instances to skip, counted without the filter: the position where the previous page ended. */
  after: number;
  limit: number;
}

/**
 * Returns a page of a run's instances in the order of their creation. `next` is the `after` of the next page; absent on
 * the last page.
 */
export function instancePage(
  run: Pick<RunState, 'instances'>,
  { node, status, after, limit }: InstanceQuery,
): { instances: InstanceView[]; next?: number } {
  const found: InstanceView[] = [];
  let place = 0;
  for (const instance of run.instances.values()) {
    place += 1;
    if (place <= after || (node !== undefined && instance.id !== node)) continue;
    if (status !== undefined && instance.status !== status) continue;
    if (found.length === limit) return { instances: found, next: place - 1 };
    found.push(instanceView(instance));
  }
  return { instances: found };
}

/**
 * Counts the instances of nodes that may have several, by node id. A node with a list is not counted itself; its
 * entries are.
 */
export function instanceCounts(run: Pick<RunState, 'instances'>): ReadonlyMap<string, InstanceCounts> {
  const counts = new Map<string, InstanceCounts>();
  const addCount = (id: string, status: NodeStatus, number: number): void => {
    const count = counts.get(id) ?? { total: 0, completed: 0, failed: 0 };
    count.total += number;
    if (number > 0) count[status] = (count[status] ?? 0) + number;
    counts.set(id, count);
  };
  for (const instance of run.instances.values()) {
    const { id, each, status, origin } = instance;
    if (each === undefined && isRepeated(instance)) addCount(id, status, 1);
    // Entries that have not started have no instance.
    const isKnown = each !== undefined && (each.total > 0 || (status === 'completed' && origin === undefined));
    if (isKnown) addCount(id, status === 'running' ? 'pending' : 'skipped', each.total - each.runs.length);
  }
  return counts;
}

function instanceView(node: NodeInstance): InstanceView {
  const { instance, id, status, attempts, taskId, because, waitsFor, origin, startedAt, finishedAt } = node;
  const error = errorOf(node);
  return {
    instance,
    node: id,
    status,
    attempts,
    ...(taskId !== undefined && { taskId }),
    ...(error && { error }),
    ...(because && { because }),
    ...(waitsFor && { waitsFor }),
    ...(origin !== undefined && { origin }),
    ...(startedAt !== undefined && { startedAt }),
    ...(finishedAt !== undefined && { finishedAt }),
  };
}

function errorOf(node: NodeInstance): WorkflowFailure | undefined {
  const { id, failure, error, status, waitsFor } = node;
  if (status !== 'failed' && waitsFor?.state !== 'retry') return undefined;
  if (failure !== undefined || error === undefined) return failure;
  return shownFailure({ node: id, ...instanceOf(node), message: error });
}

/** The log of a run, with its definition. */
interface FoldedLog {
  definition: WorkflowDefinition;
  events: readonly TaskEvent[];
}

/**
 * Returns the state of the run at the last call of an instance; `undefined` if it was not called. A forwarded answer
 * does not count as a call.
 */
function whenCalled(log: FoldedLog, instance: string): RunState | undefined {
  return runAfterLast(
    log,
    instance,
    ({ type, payload }) => type === a2aSending.type && payload['taskId'] === undefined,
  );
}

/** Returns the state of the run at the completion of an instance; `undefined` if it did not complete. */
function whenCompleted(log: FoldedLog, instance: string): RunState | undefined {
  return runAfterLast(log, instance, ({ type }) => COMPLETES.has(type));
}

const COMPLETES: ReadonlySet<string> = new Set([nodeCompleted.type, nodeReused.type]);

/** Returns the state of the run after the last matching event of an instance; `undefined` if there is no such event. */
function runAfterLast(
  { definition, events }: FoldedLog,
  instance: string,
  isMeant: (note: RunEventNote) => boolean,
): RunState | undefined {
  const last = events.findLastIndex((event) => {
    const note = noteOf(event);
    return note !== undefined && (note.instance ?? note.node_id) === instance && isMeant(note);
  });
  return last < 0 ? undefined : RunState.fromEvents(definition, events.slice(0, last + 1));
}

/**
 * Reason why a node waits.
 * - `message`: question of the agent; for a node with a list, the questions of its entries, one per line.
 * - `until`: time at which a node that only waits for a time continues (ISO 8601).
 */
export interface NodeWait {
  state: 'input-required' | 'auth-required' | 'timer' | 'retry';
  message?: string;
  until?: string;
}

export interface NodeView {
  status: NodeStatus;
  attempts: number;
  taskId?: string;
  agentUrl: string;
  waitsFor?: NodeWait;
  artifacts: Artifact[];
  error?: string;
  /** Number of instances, for a node that may have several. */
  counts?: InstanceCounts;
  /** Id of the run whose result was reused. */
  origin?: string;
  startedAt?: string;
  finishedAt?: string;
}

/** Response of `GET /api/runs/{id}/nodes/{node}`. */
export interface NodeDetail extends NodeView {
  id: string;
  type: string;
  /** Parts of the Message that called the node; absent if the node was never started, or was sent no Message. */
  input?: Part[];
}

/** Response of `GET /api/runs/{id}`. */
export interface RunView {
  runId: string;
  workflow: string;
  /** Revision of the workflow that the run was started with; absent if its Task names none. */
  revision?: string;
  status: RunStatus;
  contextId: string;
  inputs: JsonObject;
  result?: Artifact[];
  error?: RunError;
  /** Id of the original run, whose results this rerun reuses. */
  origin?: string;
  /** Edited prompt of this rerun. */
  edit?: PromptEdit;
  /** Outcome of the cancel for each child, once the run was canceled. */
  children?: CanceledChild[];
  nodes: Record<string, NodeView>;
  /**
   * State map: the text of each node's first Artifact by node id, and each input as `__user_input__<nodeId>`.
   * `artifacts` has both in full.
   */
  state: JsonObject;
  artifacts: Record<string, Artifact[]>;
  createdAt: string;
  updatedAt: string;
}

export interface RunSource {
  header: TaskHeader;
  /** Definition of the revision that the run was started with. */
  definition: WorkflowDefinition;
  /** Whole log of the run. */
  events: readonly TaskEvent[];
  /** Base URL of this service without `/a2a`. */
  baseUrl: string;
  /** Tasks of children whose ids the log of the run does not have yet. */
  children?: readonly { nodeId: string; attempt: number; taskId: string }[];
  /** Outcomes of cancels that were retried after the end of the run. */
  later?: readonly LaterOutcome[];
}

/** Converts the log of a run to the response for callers. */
export function runView(source: RunSource): RunView {
  const { header, definition, events } = source;
  const run = RunState.fromEvents(definition, events);
  const known = knownTasks(source);
  const later = new Map(source.later?.map((it) => [childReference(it.node, it.attempt), it.outcome]));
  const counts = instanceCounts(run);
  const nodes = definition.nodes.map((node): [string, NodeView] => {
    const count = counts.get(node.id);
    return [node.id, { ...nodeView(node, run.getNode(node.id), source, known), ...(count && { counts: count }) }];
  });
  return {
    runId: header.taskId,
    workflow: definition.name,
    ...revisionMember(events),
    status: run.status,
    contextId: header.contextId,
    inputs: run.inputs,
    ...(run.results.length > 0 && { result: run.results }),
    ...(run.error && { error: run.error }),
    ...(run.origin !== undefined && { origin: run.origin }),
    ...(run.edit && { edit: run.edit }),
    ...(run.children && { children: run.children.map((child) => withLater(child, run, later)) }),
    nodes: Object.fromEntries(nodes),
    state: run.stateMap(),
    artifacts: run.artifactMap(),
    createdAt: header.createdAt.toISOString(),
    updatedAt: header.updatedAt.toISOString(),
  };
}

/**
 * Converts the log of a run to the view of one instance: by node id the newest instance of the node, else by instance
 * name. `undefined` if the run has no such node, or has not reached that instance.
 */
export function nodeDetail(source: RunSource, name: string): NodeDetail | undefined {
  const { definition, events } = source;
  const run = RunState.fromEvents(definition, events);
  const found = definition.nodes.some(({ id }) => id === name) ? run.getNode(name) : run.findInstance(name);
  const node = found && definition.nodes.find(({ id }) => id === found.id);
  if (!node) return undefined;
  return {
    id: node.id,
    type: node.type,
    ...nodeView(node, found, source, knownTasks(source)),
    artifacts: artifactsOf(source, found),
    ...(found.attempts > 0 && inputOf(source, node, run, found)),
  };
}

/**
 * Returns the Artifacts of an instance. The state has the Artifacts of the last two iterations; those of earlier
 * iterations are read from the log.
 */
function artifactsOf(source: RunSource, { status, artifacts, ...node }: NodeInstance): Artifact[] {
  if (status !== 'completed' || artifacts.length > 0) return artifacts;
  return whenCompleted(source, node.instance)?.findInstance(node.instance)?.artifacts ?? [];
}

/**
 * Returns the Parts of the Message that called an instance; none if it was sent no Message. They are rebuilt from the
 * state of the run at the call, or from its current state if the definition is plain (`WorkflowGraph.isPlain`).
 */
function inputOf(source: RunSource, node: WorkflowNode, now: RunState, found: NodeInstance): { input?: Part[] } {
  const { header, definition, events } = source;
  const run = (!now.graph.isPlain && whenCalled(source, found.instance)) || now;
  const instance = run.findInstance(found.instance) ?? found;
  if (isOwn(node) || (node.each !== undefined && instance.index === undefined)) return {};
  const [first] = events;
  const { revision = '' } = readRunMetadata(first && 'task' in first ? first.task.metadata : undefined);
  const evaluation = new RunEvaluation(run, expressionRun(header.taskId, { definition, revision }, events[0]));
  try {
    return { input: messageParts(nodeContent(node, run.graph, evaluation.messageSource(instance))) };
  } catch (error) {
    if (error instanceof FailedExpression) return {};
    throw error;
  }
}

function withLater(child: CanceledChild, run: RunState, later: ReadonlyMap<string, CallCancelOutcome>): CanceledChild {
  const instance = child.instance ?? child.node;
  const outcome = later.get(childReference(instance, run.getInstance(instance).attempts));
  return outcome ? { ...child, outcome } : child;
}

/** Returns the Task ids of children that the log does not name yet, by `instance#attempt`. */
function knownTasks({ children = [] }: RunSource): ReadonlyMap<string, string> {
  return new Map(children.map(({ nodeId, attempt, taskId }) => [childReference(nodeId, attempt), taskId]));
}

function nodeView(
  node: WorkflowNode,
  run: NodeInstance,
  { definition, baseUrl }: RunSource,
  known: ReadonlyMap<string, string>,
): NodeView {
  const taskId = run.taskId ?? known.get(childReference(run.instance, run.attempts));
  const asking = run.status === 'input-required' ? [run] : askingEntries(run);
  return {
    status: asking.length > 0 ? 'input-required' : run.status,
    attempts: run.attempts,
    ...(taskId !== undefined && { taskId }),
    agentUrl: withoutUserinfo(run.agentUrl ?? nodeUrl(definition.name, node, baseUrl) ?? ''),
    ...(asking.length > 0 ? { waitsFor: answerWait(run, asking) } : run.waitsFor && { waitsFor: run.waitsFor }),
    artifacts: run.artifacts,
    ...(run.error !== undefined && { error: run.error }),
    ...(run.origin !== undefined && { origin: run.origin }),
    ...(run.startedAt !== undefined && { startedAt: run.startedAt }),
    ...(run.finishedAt !== undefined && { finishedAt: run.finishedAt }),
  };
}

function answerWait(node: NodeInstance, asking: readonly NodeInstance[]): NodeWait {
  return {
    state: asking.every(({ wantsAuth }) => wantsAuth) ? AUTH_REQUIRED : 'input-required',
    message: node.each ? questionsText(asking) : questionText(node),
  };
}
