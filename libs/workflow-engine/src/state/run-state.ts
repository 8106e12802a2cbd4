import {
  type Artifact,
  type CallersMembers,
  callersMembers,
  firstText,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Message,
  type Part,
  runEventNote,
  type Task,
  type TaskArtifactUpdateEvent,
  type TaskState,
  type TaskStatusUpdateEvent,
  textPart,
} from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import {
  contentOf,
  type GraphEdge,
  inputsOf,
  inputText,
  messageText,
  userInputName,
  type WorkflowDefinition,
  WorkflowGraph,
} from '#libs/workflow-definition';
import { type LeavingChoice, listEdgeChoices, listLeavingChoices } from './edge-propagation.js';
import type { Frontier, Plan, RunOutcome } from './frontier.js';
import {
  type CanceledChild,
  type LoopRun,
  type NodeInstance,
  outputText,
  type RunError,
  type RunStatus,
} from './node-instance.js';
import { type PromptEdit, readRerunRequest, readRunMetadata } from './run-metadata.js';
import { type RunFacts, RunProgress } from './run-progress.js';
import { answeredNodes } from './run-questions.js';
import { foldStep, nodeCompleted, nodeReused } from './run-steps.js';
import type { Timer } from './timers.js';

const RUN_STATUS: Record<TaskState, RunStatus> = {
  TASK_STATE_SUBMITTED: 'running',
  TASK_STATE_WORKING: 'running',
  TASK_STATE_INPUT_REQUIRED: 'input-required',
  TASK_STATE_AUTH_REQUIRED: 'input-required',
  TASK_STATE_COMPLETED: 'completed',
  TASK_STATE_FAILED: 'failed',
  TASK_STATE_REJECTED: 'failed',
  TASK_STATE_CANCELED: 'canceled',
};

/** Returns the run status for the state of a run's Task. */
export function runStatus(state: TaskState): RunStatus {
  return RUN_STATUS[state];
}

/**
 * State of a run, which results from applying the events of its Task's log. The same events always give the same state.
 * `RunProgress` describes the classes that apply events.
 */
export class RunState implements RunFacts {
  status: RunStatus = 'running';
  inputs: JsonObject = {};
  /** Text of the caller, if the workflow has no `input` node. */
  text?: string;
  /** Text Parts of the caller's Message; `text` joins them. */
  said: readonly Part[] = [];
  /** Content of the Message that began the run, beside its text: files, and data that names no input. */
  content: readonly Part[] = [];
  readonly graph: WorkflowGraph;
  /** Newest instance of each node, by node id. */
  readonly nodes: ReadonlyMap<string, NodeInstance>;
  /** All node instances by their names. */
  readonly instances: ReadonlyMap<string, NodeInstance>;
  readonly progress: RunProgress;
  readonly frontier: Frontier;
  error?: RunError;
  /**
   * Members of the Message that began the run, and metadata of the request with that Message. They are passed on to the
   * first agents.
   */
  callers: CallersMembers & { request?: JsonObject } = {};
  children?: CanceledChild[];
  received?: Message;
  /** Id of the original run, whose results this rerun reuses; absent if the run is no rerun. */
  origin?: string;
  /** Edited prompt of this rerun; absent if none was edited. */
  edit?: PromptEdit;
  /** Id of the Message that began the run; absent before the first event. */
  begunBy?: string;
  undelivered = false;
  /** Number of applied events, which is the sequence number of the last one. */
  sequence = 0;
  failureReported = false;
  isNearlyFull = false;
  private readonly artifacts = new Map<string, Artifact>();

  constructor(readonly definition: WorkflowDefinition) {
    this.graph = WorkflowGraph.fromDefinition(definition);
    this.progress = new RunProgress(this.graph, this);
    this.frontier = this.progress.frontier;
    this.nodes = this.progress.instances.nodes;
    this.instances = this.progress.instances.byName;
  }

  static fromEvents(definition: WorkflowDefinition, events: Iterable<TaskEvent>): RunState {
    const state = new RunState(definition);
    for (const event of events) state.apply(event);
    return state;
  }

  /** Applies the next event of the log. */
  apply(event: TaskEvent): void {
    this.sequence += 1;
    if ('task' in event) this.acceptTask(event.task);
    else if ('artifactUpdate' in event) this.takeArtifact(event.artifactUpdate);
    else this.takeStatus(event.statusUpdate, event.received);
  }

  getNode(id: string): NodeInstance {
    const node = this.nodes.get(id);
    if (node === undefined) throw new RangeError(`The run has no node "${id}"`);
    return node;
  }

  findInstance(instance: string): NodeInstance | undefined {
    return this.instances.get(instance) ?? this.nodes.get(instance);
  }

  /**
   * Returns the instance of this name, or the newest instance of the node with this id.
   * @throws RangeError if there is none
   */
  getInstance(name: string): NodeInstance {
    const node = this.findInstance(name);
    if (node === undefined) throw new RangeError(`The run has no instance "${name}"`);
    return node;
  }

  /**
   * Returns the instance of the node `id` whose result an expression or template of the instance `from` uses:
   * - the instance in the same iteration, once it has ended (completed, failed, skipped or canceled),
   * - until then the instance in the previous iteration,
   * - for a node in a loop that `from` is not in: the instance in the loop's last iteration.
   * @param from absent for the run itself, which is in no loop; for example, to find the run's results
   * @throws RangeError if there is no such node
   */
  resolveInstance(id: string, from?: NodeInstance): NodeInstance {
    return this.progress.scopes.resolveInstance(id, from) ?? this.getNode(id);
  }

  /** True if an instance was skipped or canceled, or is being canceled because its result is no longer needed. */
  isLeftOut(node: NodeInstance): boolean {
    return this.progress.scopes.isLeftOut(node);
  }

  /**
   * True if the edge to the instance was taken. Also true if the iteration is no longer stored, so that the answer is
   * unknown.
   */
  isReachedOver({ index }: GraphEdge, to: NodeInstance): boolean {
    return (this.progress.scopes.findEdgeState(index, to) ?? 'live') === 'live';
  }

  /**
   * Returns the innermost loop around an instance; `undefined` if there is none, or if the iteration of the instance is
   * no longer stored.
   */
  loopOf(node: NodeInstance): LoopRun | undefined {
    return this.progress.scopes.loopOf(node);
  }

  /**
   * Returns the instance of a loop's last node in the newest iteration of the loop. If that node is in inner loops,
   * their newest iterations are used.
   */
  lastOf({ loop, path }: LoopRun): NodeInstance {
    const run = this.progress.scopes.findLoop({ edge: loop.index, path });
    return run?.inner?.latestOf(loop.from)?.node ?? this.getNode(loop.from);
  }

  /**
   * Returns the outgoing edges whose conditions are evaluated when the node ends with `outcome`; `undefined` if no edge
   * needs an evaluation. The event of the node's end names the taken edges in `taken`. Edges that leave a loop are
   * decided at the end of the loop (`choosableExits`), except edges that handle a failure.
   */
  choosableEdges(node: NodeInstance, outcome: 'completed' | 'failed'): readonly GraphEdge[] | undefined {
    return listEdgeChoices(this.graph, node, outcome);
  }

  /**
   * Returns the edges out of a loop that are decided when the loop ends, for each instance from which they lead. The
   * event `loop.ended` names the taken edges in `taken`.
   * @param fails true if the loop ends with a failure of its own, which counts as a failure of its last node
   */
  choosableExits(loop: LoopRun, fails = false): LeavingChoice[] {
    const run = this.progress.scopes.findLoop({ edge: loop.loop.index, path: loop.path });
    return run ? listLeavingChoices(this.graph, run, fails) : [];
  }

  get results(): Artifact[] {
    return [...this.artifacts.values()];
  }

  /**
   * Returns the state map: each input as `__user_input__<nodeId>`, and the output text of each node that has one, by
   * node id.
   */
  stateMap(): JsonObject {
    const inputs = Object.entries(this.inputs).map(([id, value]) => [userInputName(id), value] as const);
    const outputs = [...this.nodes.values()].map((node): [string, JsonValue] => [node.id, outputText(node)]);
    return Object.fromEntries([...inputs, ...outputs.filter(([, text]) => text !== '')]);
  }

  /** Approximate number of characters of the state map. Counts only strings among the inputs. */
  get size(): number {
    let characters = 0;
    for (const value of Object.values(this.inputs)) characters += typeof value === 'string' ? value.length : 0;
    for (const node of this.nodes.values()) characters += outputText(node).length;
    return characters;
  }

  /** Returns all Artifacts of the run by node id: each input as a text, and the Artifacts of each node that has any. */
  artifactMap(): Record<string, Artifact[]> {
    const inputs = Object.entries(this.inputs).map(([id, value]): [string, Artifact[]] => {
      const name = userInputName(id);
      return [name, [{ artifactId: name, name, parts: [textPart(inputText(value))] }]];
    });
    const outputs = [...this.nodes.values()].filter((node) => node.artifacts.length > 0);
    return Object.fromEntries([...inputs, ...outputs.map((node): [string, Artifact[]] => [node.id, node.artifacts])]);
  }

  private acceptTask(task: Task): void {
    const { inputs, request } = readRunMetadata(task.metadata);
    const rerun = readRerunRequest(task.metadata);
    if (rerun) this.origin = rerun.origin;
    if (rerun?.edit) this.edit = rerun.edit;
    const first = task.history?.[0];
    this.progress.acceptRun(task.status.timestamp ?? '');
    if (first) this.begunBy = first.messageId;
    if (isJsonObject(inputs)) this.inputs = inputs;
    else if (first) this.inputs = inputsOf(first, this.definition);
    if (first) this.callers = { ...callersMembers(first), ...(isJsonObject(request) && { request }) };
    // A rerun itself refers to the run that it repeats.
    if (rerun) delete this.callers.referenceTaskIds;
    this.content = first ? contentOf(first, this.definition) : [];
    const text = first && messageText(first);
    if (text === undefined || this.definition.nodes.some(({ type }) => type === 'input')) return;
    this.text = text;
    this.said = first?.parts.filter((part) => part.text !== undefined) ?? [];
  }

  private takeArtifact({ artifact, append, metadata }: TaskArtifactUpdateEvent): void {
    const before = append ? this.artifacts.get(artifact.artifactId) : undefined;
    const after = before ? { ...before, parts: [...before.parts, ...artifact.parts] } : artifact;
    this.artifacts.set(artifact.artifactId, after);
    const note = runEventNote(metadata);
    if (note === undefined) return;
    const carried = RESULT_STEPS.has(note.type) && note.payload['artifacts'] === undefined;
    const payload = carried ? { ...note.payload, artifacts: [artifact] as unknown as JsonValue } : note.payload;
    foldStep(this, { ...note, payload }, note.timestamp ?? '');
  }

  private takeStatus({ status, metadata }: TaskStatusUpdateEvent, received: Message | undefined): void {
    const note = runEventNote(metadata);
    if (note) foldStep(this, note, status.timestamp ?? '');
    this.status = runStatus(status.state);
    if (received) this.received = received;
    this.undelivered = this.status === 'running' && (received !== undefined || this.undelivered);
    if (this.status === 'failed')
      this.error ??= { message: firstText(status.message?.parts ?? []) ?? 'The run failed' };
    if (this.status !== 'running' && this.status !== 'input-required') this.progress.settleRun(status.timestamp);
  }
}

/**
 * Types of steps for which the payload may omit `artifacts`: the only Artifact of the node is then the Artifact that
 * the event itself carries.
 */
const RESULT_STEPS: ReadonlySet<string> = new Set([nodeCompleted.type, nodeReused.type]);

/**
 * Longest wait of a run that stays in its process, in milliseconds. For a longer wait the turn ends and the process
 * releases the run (`parked`).
 */
const SHORT_WAIT = 30_000;

/**
 * Plans the next steps of a run. After an unhandled failure no node starts and running nodes are canceled, unless the
 * workflow has `onFailure: "continue"`. The function is pure: it reads only the state that follows from the log. Its
 * cost is proportional to the plan.
 * @param now current time in epoch milliseconds
 */
export function planNext(state: RunState, now: number): Plan {
  const { frontier } = state;
  if (frontier.ending) return planEnding(frontier, now);
  const wakeAt = frontier.timers.nextAfter(now);
  const common = { stop: frontier.nodesToCancel, report: frontier.unreportedSkips };
  if (frontier.isFailingFast) return planOutcome({ ...common, ...NOTHING }, 'failed', state);
  const plan = {
    ...common,
    ...planDueWork(frontier, now),
    answer: findAnswered(state),
    ...(wakeAt !== undefined && { wakeAt }),
  };
  if (frontier.isBusy) return plan;
  if (frontier.hasNodeWithStatus('input-required')) return planOutcome(plan, 'input-required', state);
  if (frontier.timers.listDue(now + SHORT_WAIT).some(({ kind }) => CONTINUING_TIMERS.has(kind))) return plan;
  if (frontier.timers.ofNodes > 0) return planOutcome(plan, 'parked', state);
  return planOutcome(plan, frontier.isFailing ? 'failed' : 'completed', state);
}

/**
 * Plans the `onExit` nodes after the outcome of the run is known, within their time limit. If such a node asks a
 * question, the plan contains a timer for the question that is due at once: an `onExit` node may not ask, and fails.
 * @param now current time in epoch milliseconds
 */
function planEnding(frontier: Frontier, now: number): Plan {
  const isOver = frontier.timers.listDue(now).some(({ kind }) => kind === 'exit');
  const report = frontier.unreportedSkips;
  if (isOver) return planOutcome({ ...NOTHING, stop: frontier.active, report }, frontier.ending);
  const wakeAt = frontier.timers.nextAfter(now);
  const { fire, ...others } = planDueWork(frontier, now);
  const unheard = frontier.waiting.map((node): Timer => ({ kind: 'question', at: now, node }));
  const common = { stop: [], report, answer: [], ...(wakeAt !== undefined && { wakeAt }) };
  const plan = { ...common, ...others, fire: [...fire, ...unheard] };
  return frontier.active.length > 0 || frontier.isBusy ? plan : planOutcome(plan, frontier.ending);
}

/** Returns pending decisions, due timers and nodes to start. */
function planDueWork(frontier: Frontier, now: number): Pick<Plan, 'decide' | 'fire' | 'start'> {
  const due = frontier.timers.listDue(now);
  const again = due.flatMap(({ kind, node }) => (STARTS.has(kind) && node ? [node] : []));
  return {
    decide: frontier.pendingDecisions,
    fire: due.filter(({ kind }) => !STARTS.has(kind)),
    start: frontier.selectNodesToStart(again),
  };
}

/** Kinds of timers that start a node or an iteration. */
const STARTS: ReadonlySet<Timer['kind']> = new Set(['retry', 'loop']);
/** Kinds of timers that let a run continue without an answer to its questions. */
const CONTINUING_TIMERS: ReadonlySet<Timer['kind']> = new Set([...STARTS, 'wait']);
const NOTHING = { decide: [], answer: [], fire: [], start: [] };

/**
 * Sets the outcome of a plan that has nothing else left to do. If the workflow has `onExit` nodes, the plan gets the
 * decision `ending` instead of `completed` or `failed`: the `onExit` nodes run first.
 */
function planOutcome(plan: Plan, outcome: RunOutcome | undefined, state?: RunState): Plan {
  const { stop, report, decide, fire, start } = plan;
  if ([stop, report, decide, fire, start].some((list) => list.length > 0) || outcome === undefined) return plan;
  const isLast = outcome === 'completed' || outcome === 'failed';
  const hasExits = state !== undefined && state.graph.exits.size > 0;
  if (isLast && hasExits) return { ...plan, decide: [{ kind: 'ending', outcome }] };
  return { ...plan, outcome };
}

function findAnswered({ received, undelivered, frontier }: RunState): NodeInstance[] {
  if (received === undefined || !undelivered) return [];
  const waiting = frontier.waiting.filter((node) => !frontier.sets.withdrawn.has(node));
  return answeredNodes(received, waiting);
}

/**
 * True if a cancel of the run has begun to cancel its nodes. Such a run never completes: the cancel resumes after a
 * crash, even before it is requested again.
 */
export function isBeingCanceled({ frontier }: RunState): boolean {
  return frontier.isBeingCanceled;
}
