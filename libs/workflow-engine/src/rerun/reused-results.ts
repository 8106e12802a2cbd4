import { isDeepStrictEqual } from 'node:util';
import { type Artifact, type Part, type RunEventNote, runEventNote } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { Loop, WorkflowGraph, WorkflowNode } from '#libs/workflow-definition';
import type { OriginResult, ReusedResult } from '../execution/run-ending.js';
import type { RerunOrigin } from '../execution/run-services.js';
import { messageParts, nodeContent } from '../messages/node-message.js';
import { expressionRun, RunEvaluation } from '../messages/run-evaluation.js';
import { isRepeated, type NodeInstance } from '../state/node-instance.js';
import type { RerunRequest } from '../state/run-metadata.js';
import { RunState } from '../state/run-state.js';
import { loopEnded, nodeCompleted, nodeError, nodeReused } from '../state/run-steps.js';

/** Parsed name of an instance, such as `draft`, `draft@2`, `tr[17]` or `x@2@1[17]`. */
export interface InstanceName {
  id: string;
  /** Numbers of the iterations of the enclosing loops, outermost first. */
  path: readonly number[];
  /** Index in the list, for an entry of a node with `each`. */
  index?: number;
}

const NAME = /^([A-Za-z0-9_][A-Za-z0-9_-]{0,63})((?:@\d{1,4})*)(?:\[(\d{1,5})\])?$/;

/** Parses the name of an instance; `undefined` if the text is no such name. */
export function parseInstance(name: string): InstanceName | undefined {
  const [, id, path = '', index] = NAME.exec(name) ?? [];
  if (id === undefined) return undefined;
  const iterations = path.split('@').slice(1).map(Number);
  return { id, path: iterations, ...(index !== undefined && { index: Number(index) }) };
}

/**
 * Set of the instances that a rerun runs again: those that the request names, and all nodes after them. A node in a
 * loop that is named without an iteration stands for the whole loop, from its first iteration on.
 */
export class RerunSelection {
  private readonly named: readonly NamedInstance[];
  private readonly loops = new Map<string, readonly Loop[]>();

  constructor(
    private readonly graph: WorkflowGraph,
    names: readonly InstanceName[],
  ) {
    this.named = names.map((name) => this.resolveName(name));
  }

  has(instance: InstanceName): boolean {
    return this.named.some((named) => this.isAfter(instance, named));
  }

  private resolveName(name: InstanceName): NamedInstance {
    const [outermost] = this.listLoopsAround(name.id);
    const isWholeLoop = outermost !== undefined && name.path.length === 0;
    const starts = isWholeLoop ? [...outermost.body] : [name.id];
    return { ...name, isWholeLoop, reached: this.collectReachable(starts) };
  }

  private isAfter({ id, path, index }: InstanceName, named: NamedInstance): boolean {
    if (named.isWholeLoop) return named.reached.has(id);
    const shared = this.countSharedLoops(id, named.id);
    const order = comparePaths(path.slice(0, shared), named.path.slice(0, shared));
    if (order !== 0) return order > 0;
    if (id !== named.id) return named.reached.has(id);
    return index === undefined || named.index === undefined || index === named.index;
  }

  private countSharedLoops(one: string, other: string): number {
    return this.listLoopsAround(one).filter(({ body }) => body.has(other)).length;
  }

  /** Returns the loops around a node, outermost first. */
  private listLoopsAround(id: string): readonly Loop[] {
    const known = this.loops.get(id);
    if (known) return known;
    const around = this.graph.loops.filter(({ body }) => body.has(id)).toSorted((a, b) => b.body.size - a.body.size);
    this.loops.set(id, around);
    return around;
  }

  private collectReachable(starts: readonly string[]): ReadonlySet<string> {
    const reached = new Set(starts);
    for (const id of reached) for (const next of this.graph.successors(id)) reached.add(next);
    return reached;
  }
}

interface NamedInstance extends InstanceName {
  isWholeLoop: boolean;
  /**
   * Ids of the named node (or of all nodes of its loop, if `isWholeLoop`), and of all nodes that can be reached from
   * there by edges other than back-edges.
   */
  reached: ReadonlySet<string>;
}

function comparePaths(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((iteration, place) => iteration !== other[place]);
  return at < 0 ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
}

/** Results and failures of all instances in the log of a run, in all iterations. */
export class OriginResults {
  private readonly results = new Map<string, OriginResult>();
  private readonly failures = new Set<string>();

  constructor(log: readonly TaskEvent[]) {
    for (const event of log) if (!('task' in event)) this.readEvent(event);
  }

  findResult(instance: string): OriginResult | undefined {
    return this.results.get(instance);
  }

  /**
   * Names of the failed instances, in the order of their failures. If a node failed because entries of its list failed,
   * these entries are named instead of the node.
   */
  get failed(): string[] {
    const failed = [...this.failures];
    const lists = new Set(failed.filter(isEntry).map((entry) => entry.slice(0, entry.lastIndexOf('['))));
    return failed.filter((instance) => !lists.has(instance));
  }

  private readEvent(event: Exclude<TaskEvent, { task: unknown }>): void {
    const isResult = 'artifactUpdate' in event;
    const note = runEventNote(isResult ? event.artifactUpdate.metadata : event.statusUpdate.metadata);
    const instance = note && readInstanceName(note);
    if (note === undefined || instance === undefined) return;
    if (note.type === nodeCompleted.type || note.type === nodeReused.type) {
      const reported = note.payload['artifacts'] as unknown as Artifact[] | undefined;
      const artifacts = reported ?? (isResult ? [event.artifactUpdate.artifact] : []);
      this.results.set(instance, { artifacts, ...(note.payload['fallback'] === true && { fallback: true }) });
    }
    if (note.type === nodeError.type || (note.type === loopEnded.type && note.payload['failure'] !== undefined))
      this.failures.add(instance);
  }
}

function isEntry(instance: string): boolean {
  return instance.endsWith(']');
}

function readInstanceName({ instance, node_id: id }: RunEventNote): string | undefined {
  return instance ?? id;
}

/** State of a run, and the Messages to its nodes. Two of these are compared to find nodes that get the same Message. */
interface ComparedRun {
  graph: WorkflowGraph;
  findInstance(id: string): NodeInstance | undefined;
  /**
   * Returns the Parts of the Message to the node.
   * @throws if they cannot be built
   */
  renderParts(node: WorkflowNode): Part[];
}

interface ReusedSource {
  origin: string;
  results: OriginResults;
  anew: RerunSelection;
  /** The rerun, in the state after the events of its log so far. */
  run: Pick<RunState, 'graph' | 'instances'>;
  /**
   * Both runs, to find the nodes that a difference does not affect; absent if their definitions and inputs are equal.
   */
  compared?: { before: ComparedRun; now: ComparedRun };
}

/**
 * Results that a rerun reuses from its original run.
 * - An instance is reused if it completed in the original run and is not selected to run again.
 * - An `onExit` node is reused only if no other node runs again.
 * - If the inputs or the definition differ, a node is reused only if it is unchanged, is sent the same Message, and
 *   follows reused nodes alone. A node in a loop, or with a list, is then never reused.
 */
export class ReusedResults {
  constructor(private readonly source: ReusedSource) {}

  /** Returns the result to reuse for an instance that is about to start; `undefined` if it must run. */
  findReusableResult(node: NodeInstance): ReusedResult | undefined {
    const { origin, results, anew } = this.source;
    const result = results.findResult(node.instance);
    if (result === undefined || anew.has(node)) return undefined;
    const isReusable = !this.comesAfterAnew(node) && this.isUnchanged(node);
    return isReusable ? { origin, ...result } : undefined;
  }

  /**
   * True for an `onExit` node if another node has run in this rerun. The outcome of the run may then differ, so that
   * the `onExit` node runs again.
   */
  private comesAfterAnew({ id }: NodeInstance): boolean {
    const { graph, instances } = this.source.run;
    if (!graph.exits.has(id)) return false;
    return [...instances.values()].some((it) => it.attempts > 0 && !graph.exits.has(it.id));
  }

  private isUnchanged(instance: NodeInstance): boolean {
    const { id } = instance;
    const { compared } = this.source;
    if (compared === undefined) return true;
    const { before, now } = compared;
    if (isRepeated(instance) || !before.graph.has(id)) return false;
    const [then, node] = [before.graph.node(id), now.graph.node(id)];
    if (node.each !== undefined || !isDeepStrictEqual(omitPosition(then), omitPosition(node))) return false;
    return isFedAlike(id, before.graph, now.graph) && this.isAfterReused(id) && isSentAlike(then, node, compared);
  }

  private isAfterReused(id: string): boolean {
    const { compared } = this.source;
    const predecessors = compared?.now.graph.predecessors(id) ?? [];
    return predecessors.every((before) => compared?.now.findInstance(before)?.origin !== undefined);
  }
}

/** Returns a node without its position in an editor, which does not affect what the node does. */
function omitPosition({ position: _position, ...node }: WorkflowNode): object {
  return node;
}

function isFedAlike(id: string, before: WorkflowGraph, now: WorkflowGraph): boolean {
  const listIncomingEdges = (graph: WorkflowGraph): unknown[] => graph.incoming(id).map(({ edge }) => edge);
  return isDeepStrictEqual(listIncomingEdges(before), listIncomingEdges(now));
}

/**
 * True if the node is sent the same Parts in both runs. False if the Parts cannot be built for one of the runs.
 * @param then the node as the original run defines it
 */
function isSentAlike(
  then: WorkflowNode,
  node: WorkflowNode,
  { before, now }: { before: ComparedRun; now: ComparedRun },
): boolean {
  try {
    return isDeepStrictEqual(before.renderParts(then), now.renderParts(node));
  } catch {
    return false;
  }
}

/** State of a run after all events of its log, with the evaluation of the run's expressions. */
interface FoldedRun {
  state: RunState;
  evaluation: RunEvaluation;
}

/**
 * Determines the results that a rerun reuses from its original run; `undefined` if the request is to run everything
 * again.
 * @param now the rerun, in the state after the events of its log so far
 */
export function createReusedResults(
  request: RerunRequest,
  origin: RerunOrigin,
  now: FoldedRun,
): ReusedResults | undefined {
  if (request.all) return undefined;
  const { workflow, log } = origin;
  const results = new OriginResults(log);
  const names = [...(request.from ?? []), ...(request.failed ? results.failed : [])];
  const named = names.flatMap((name) => parseInstance(name) ?? []);
  const { graph } = now.state;
  const anew = new RerunSelection(
    graph,
    named.filter(({ id }) => graph.has(id)),
  );
  const state = RunState.fromEvents(workflow.definition, log);
  const isSame =
    isDeepStrictEqual(workflow.definition, now.state.definition) &&
    isDeepStrictEqual([state.inputs, state.text], [now.state.inputs, now.state.text]);
  const before = {
    state,
    evaluation: new RunEvaluation(state, expressionRun(request.origin, workflow, log[0]), now.evaluation.steps),
  };
  const compared = { before: createComparedRun(before), now: createComparedRun(now) };
  return new ReusedResults({ origin: request.origin, results, anew, run: now.state, ...(!isSame && { compared }) });
}

function createComparedRun({ state, evaluation }: FoldedRun): ComparedRun {
  return {
    graph: state.graph,
    findInstance: (id) => state.nodes.get(id),
    renderParts: (node) =>
      messageParts(nodeContent(node, state.graph, evaluation.messageSource(state.getNode(node.id)))),
  };
}
