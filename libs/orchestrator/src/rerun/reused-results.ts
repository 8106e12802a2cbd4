import { isDeepStrictEqual } from 'node:util';
import type { Part } from '#libs/protocol';
import type { NodeInstance } from '../node-run.js';
import type { ReusedResult } from '../run-ending.js';
import type { RunState } from '../run-state.js';
import type { WorkflowNode } from '../workflow.js';
import type { WorkflowGraph } from '../workflow-graph.js';
import type { RerunSelection } from './anew-instances.js';
import type { OriginResults } from './origin-results.js';

/** View of a run, to compare what a node is sent in two runs. */
export interface ComparedRun {
  graph: WorkflowGraph;
  findInstance(id: string): NodeInstance | undefined;
  /**
   * Returns the Parts that the node is sent.
   * @throws if they cannot be built
   */
  renderParts(node: WorkflowNode): Part[];
}

interface ReusedSource {
  origin: string;
  results: OriginResults;
  anew: RerunSelection;
  /** Run that takes the results, as far as it is folded. */
  run: Pick<RunState, 'graph' | 'instances'>;
  /** Both runs, if the definition or the inputs differ. Used to find the nodes that the difference does not affect. */
  compared?: { before: ComparedRun; now: ComparedRun };
}

/**
 * Results that a rerun takes from its origin.
 * - An instance is reused if it completed there and is not to run again.
 * - A node of `onExit` is reused only if no other node runs again.
 * - With other inputs or another definition, a node is reused only if it is unchanged, is sent the same, and follows
 *   reused nodes alone. No node in a loop or with a list is.
 */
export class ReusedResults {
  constructor(private readonly source: ReusedSource) {}

  /** Returns the result of an instance that is about to start, if it is reused. */
  findReusableResult(node: NodeInstance): ReusedResult | undefined {
    const { origin, results, anew } = this.source;
    const result = results.findResult(node.instance);
    if (result === undefined || anew.has(node) || this.comesAfterAnew(node) || !this.isUnchanged(node))
      return undefined;
    return { origin, ...result };
  }

  /** True for a node of `onExit` after any other node has run: it may have another outcome to report. */
  private comesAfterAnew({ id }: NodeInstance): boolean {
    const { graph, instances } = this.source.run;
    if (!graph.exits.has(id)) return false;
    return [...instances.values()].some((it) => it.attempts > 0 && !graph.exits.has(it.id));
  }

  private isUnchanged({ id, path, list }: NodeInstance): boolean {
    const { compared } = this.source;
    if (compared === undefined) return true;
    const { before, now } = compared;
    if (path.length > 0 || list !== undefined || !before.graph.has(id)) return false;
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

/** Returns everything of a node that affects what it does: all but its position in an editor. */
function omitPosition({ position: _position, ...node }: WorkflowNode): object {
  return node;
}

function isFedAlike(id: string, before: WorkflowGraph, now: WorkflowGraph): boolean {
  const listIncomingEdges = (graph: WorkflowGraph): unknown[] => graph.incoming(id).map(({ edge }) => edge);
  return isDeepStrictEqual(listIncomingEdges(before), listIncomingEdges(now));
}

/** True if the node is sent the same in both runs. False if that cannot be built for one of them. */
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
