import { isDeepStrictEqual } from 'node:util';
import type { Part } from '#libs/protocol';
import type { NodeRun } from '../node-run.js';
import type { RunState } from '../run-state.js';
import type { WorkflowNode } from '../workflow.js';
import type { WorkflowGraph } from '../workflow-graph.js';
import type { AnewInstances } from './anew-instances.js';
import type { OriginResult, OriginResults } from './origin-results.js';

/** A result that is taken over from the run that a rerun began with. */
export interface ReusedResult extends OriginResult {
  /** That run's id. */
  origin: string;
}

/** What a node was sent, or would be, in one of two runs. */
export interface ComparedRun {
  graph: WorkflowGraph;
  node(id: string): NodeRun | undefined;
  /** @throws where it cannot be put together */
  parts(node: WorkflowNode): Part[];
}

interface ReusedSource {
  origin: string;
  results: OriginResults;
  anew: AnewInstances;
  /** The run that takes them over, as far as it has come. */
  run: Pick<RunState, 'graph' | 'instances'>;
  /** Where the definition or the inputs are others: both runs, to tell what that changes nothing for. */
  compared?: { before: ComparedRun; now: ComparedRun };
}

/**
 * The results that a rerun takes over: of every instance that has completed in the run it began with and is not to be run
 * anew; of nodes of `onExit` only where nothing else is run anew. With other inputs or another definition only those of
 * nodes that are what they were, are sent what they were sent, and come after nodes alone for which that holds; in loops
 * and lists none.
 */
export class ReusedResults {
  constructor(private readonly source: ReusedSource) {}

  /** Asked when the instance is about to start. */
  of(node: NodeRun): ReusedResult | undefined {
    const { origin, results, anew } = this.source;
    const result = results.of(node.instance);
    if (result === undefined || anew.has(node) || this.comesAfterAnew(node) || !this.isUnchanged(node))
      return undefined;
    return { origin, ...result };
  }

  /** What runs at the end comes after everything, and may have another outcome to tell of. */
  private comesAfterAnew({ id }: NodeRun): boolean {
    const { graph, instances } = this.source.run;
    if (!graph.exits.has(id)) return false;
    return [...instances.values()].some((it) => it.attempts > 0 && !graph.exits.has(it.id));
  }

  private isUnchanged({ id, path, list }: NodeRun): boolean {
    const { compared } = this.source;
    if (compared === undefined) return true;
    const { before, now } = compared;
    if (path.length > 0 || list !== undefined || !before.graph.has(id)) return false;
    const [then, node] = [before.graph.node(id), now.graph.node(id)];
    if (node.each !== undefined || !isDeepStrictEqual(meaning(then), meaning(node))) return false;
    return isFedAlike(id, before.graph, now.graph) && this.isAfterReused(id) && isSentAlike(then, node, compared);
  }

  private isAfterReused(id: string): boolean {
    const { compared } = this.source;
    const predecessors = compared?.now.graph.predecessors(id) ?? [];
    return predecessors.every((before) => compared?.now.node(before)?.origin !== undefined);
  }
}

/** All of a node that decides what it does; not where an editor draws it. */
function meaning({ position: _position, ...node }: WorkflowNode): object {
  return node;
}

function isFedAlike(id: string, before: WorkflowGraph, now: WorkflowGraph): boolean {
  const edges = (graph: WorkflowGraph): unknown[] => graph.incoming(id).map(({ edge }) => edge);
  return isDeepStrictEqual(edges(before), edges(now));
}

/** What cannot be put together in either of the runs is no reason to take a result over. */
function isSentAlike(
  then: WorkflowNode,
  node: WorkflowNode,
  { before, now }: { before: ComparedRun; now: ComparedRun },
): boolean {
  try {
    return isDeepStrictEqual(before.parts(then), now.parts(node));
  } catch {
    return false;
  }
}
