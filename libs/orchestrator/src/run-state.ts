import {
  type Artifact,
  firstText,
  isFilePart,
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
import { choices, type LeavingChoice, leavingChoices } from './edge-choices.js';
import type { Frontier } from './frontier.js';
import type { GraphEdge } from './graph-edge.js';
import { outputText } from './node-output.js';
import type { LoopRun } from './loop-run.js';
import type { CanceledChild, NodeRun, RunError, RunStatus } from './node-run.js';
import { Progress } from './progress.js';
import type { RunFacts } from './run-facts.js';
import { inputsOf, inputText, messageText, userInputName } from './run-inputs.js';
import { readRunMetadata } from './run-metadata.js';
import { nodeReused } from './control-steps.js';
import { readRerun } from './rerun/rerun-request.js';
import { foldStep, nodeCompleted } from './run-steps.js';
import type { WorkflowDefinition } from './workflow.js';
import { WorkflowGraph } from './workflow-graph.js';

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

/** The word for the state of a run's Task. */
export function runStatus(state: TaskState): RunStatus {
  return RUN_STATUS[state];
}

/** A run as its Task's log tells it. The same events always give the same state. */
export class RunState implements RunFacts {
  status: RunStatus = 'running';
  inputs: JsonObject = {};
  /** What the caller said, where the workflow has no `input` node that took it. */
  text?: string;
  /** The files of the Message that the run began with. */
  files: readonly Part[] = [];
  readonly graph: WorkflowGraph;
  /** By id: the newest instance of each node. */
  readonly nodes: ReadonlyMap<string, NodeRun>;
  /** Every instance that there is, by its name. */
  readonly instances: ReadonlyMap<string, NodeRun>;
  readonly progress: Progress;
  readonly frontier: Frontier;
  error?: RunError;
  children?: CanceledChild[];
  received?: Message;
  /** The run that it began with, where it is a rerun. */
  origin?: string;
  /** The id of the Message that began the run. */
  begunBy?: string;
  undelivered = false;
  /** Number of events taken in: the sequence of the last one. */
  sequence = 0;
  failureReported = false;
  isNearlyFull = false;
  private readonly artifacts = new Map<string, Artifact>();

  constructor(readonly definition: WorkflowDefinition) {
    this.graph = WorkflowGraph.of(definition);
    this.progress = new Progress(this.graph, this);
    this.frontier = this.progress.frontier;
    this.nodes = this.progress.instances.nodes;
    this.instances = this.progress.instances.byName;
  }

  static of(definition: WorkflowDefinition, events: Iterable<TaskEvent>): RunState {
    const state = new RunState(definition);
    for (const event of events) state.apply(event);
    return state;
  }

  /** Takes in the next event of the log. */
  apply(event: TaskEvent): void {
    this.sequence += 1;
    if ('task' in event) this.accept(event.task);
    else if ('artifactUpdate' in event) this.takeArtifact(event.artifactUpdate);
    else this.takeStatus(event.statusUpdate, event.received);
  }

  node(id: string): NodeRun {
    const node = this.nodes.get(id);
    if (node === undefined) throw new RangeError(`The run has no node "${id}"`);
    return node;
  }

  find(instance: string): NodeRun | undefined {
    return this.instances.get(instance) ?? this.nodes.get(instance);
  }

  /** @throws RangeError where there is none */
  instance(name: string): NodeRun {
    const node = this.find(name);
    if (node === undefined) throw new RangeError(`The run has no instance "${name}"`);
    return node;
  }

  /**
   * What a node's id means to an instance: the one beside it once it has ended in this iteration (completed, failed, skipped
   * or canceled), until then that of the iteration before; in a loop that the instance is not in, the last one. Without an
   * instance: to the run.
   * @throws RangeError where there is no such node
   */
  seen(id: string, from?: NodeRun): NodeRun {
    return this.progress.scopes.seen(id, from) ?? this.node(id);
  }

  /** True if an instance was skipped or canceled, or is being canceled because nobody needs it. */
  isLeftOut(node: NodeRun): boolean {
    return this.progress.scopes.isLeftOut(node);
  }

  /** Whether an instance was reached over an edge, as far as that is still known. */
  isTaken({ index }: GraphEdge, to: NodeRun): boolean {
    return (this.progress.scopes.edge(index, to) ?? 'live') === 'live';
  }

  /** The innermost loop around an instance; `undefined` where there is none, or its iteration is long over. */
  loopOf(node: NodeRun): LoopRun | undefined {
    return this.progress.scopes.loopOf(node);
  }

  /** What a loop ends with: its last node as it ran in the newest iteration, or in the loops in that. */
  lastOf({ loop, path }: LoopRun): NodeRun {
    const run = this.progress.scopes.loop({ edge: loop.index, path });
    return run?.inner?.last(loop.from)?.node ?? this.node(loop.from);
  }

  /**
   * The edges of which `taken` of a node's end names those that are taken; `undefined` where it is left out, as none of its
   * edges has a condition. Edges that leave a loop are chosen at its end, but for those that take care of a failure.
   */
  choices(node: NodeRun, outcome: 'completed' | 'failed'): readonly GraphEdge[] | undefined {
    return choices(this.graph, node, outcome);
  }

  /**
   * The edges out of a loop of which `taken` of its end names those that are taken, by the instance that decides.
   * @param fails whether it ends with a failure of its own, which is one of its last node
   */
  leaving(loop: LoopRun, fails = false): LeavingChoice[] {
    const run = this.progress.scopes.loop({ edge: loop.loop.index, path: loop.path });
    return run ? leavingChoices(this.graph, run, fails) : [];
  }

  get results(): Artifact[] {
    return [...this.artifacts.values()];
  }

  /** The state map: each input under its name, and the output text of each node that has one. */
  stateMap(): JsonObject {
    const inputs = Object.entries(this.inputs).map(([id, value]) => [userInputName(id), value] as const);
    const outputs = [...this.nodes.values()].map((node): [string, JsonValue] => [node.id, outputText(node)]);
    return Object.fromEntries([...inputs, ...outputs.filter(([, text]) => text !== '')]);
  }

  /** About how many characters the state map has. */
  get size(): number {
    let characters = 0;
    for (const value of Object.values(this.inputs)) characters += typeof value === 'string' ? value.length : 0;
    for (const node of this.nodes.values()) characters += outputText(node).length;
    return characters;
  }

  /** The Artifacts: each input as a text, and those of each node that has some. */
  artifactMap(): Record<string, Artifact[]> {
    const inputs = Object.entries(this.inputs).map(([id, value]): [string, Artifact[]] => {
      const name = userInputName(id);
      return [name, [{ artifactId: name, name, parts: [textPart(inputText(value))] }]];
    });
    const outputs = [...this.nodes.values()].filter((node) => node.artifacts.length > 0);
    return Object.fromEntries([...inputs, ...outputs.map((node): [string, Artifact[]] => [node.id, node.artifacts])]);
  }

  private accept(task: Task): void {
    const { inputs } = readRunMetadata(task.metadata);
    const rerun = readRerun(task.metadata);
    if (rerun) this.origin = rerun.origin;
    const first = task.history?.[0];
    this.progress.accept(task.status.timestamp ?? '');
    if (first) this.begunBy = first.messageId;
    if (isJsonObject(inputs)) this.inputs = inputs;
    else if (first) this.inputs = inputsOf(first, this.definition);
    this.files = first?.parts.filter(isFilePart) ?? [];
    const text = first && messageText(first);
    if (text !== undefined && this.definition.nodes.every(({ type }) => type !== 'input')) this.text = text;
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
    if (this.status !== 'running' && this.status !== 'input-required') this.progress.settle(status.timestamp);
  }
}

/** An event that carries the one Artifact of a node leaves it out of what it says of the node. */
const RESULT_STEPS: ReadonlySet<string> = new Set([nodeCompleted.type, nodeReused.type]);
