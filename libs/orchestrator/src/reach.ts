import { AncestorSets } from './ancestors.js';
import type { Loop } from './loop.js';
import type { WorkflowGraph } from './workflow-graph.js';

/**
 * Answers which nodes have run in any case before another one starts:
 * - its predecessors,
 * - the body of a loop, if the loop precedes it,
 * - within a loop, the whole body: in this iteration or the previous one.
 */
export class PrecedenceIndex {
  private readonly ancestors: AncestorSets;
  /** Loops by the nodes that they repeat. */
  private readonly loops = new Map<string, Loop[]>();

  constructor(private readonly graph: WorkflowGraph) {
    this.ancestors = new AncestorSets(graph);
    for (const loop of graph.loops) for (const id of loop.body) this.loops.set(id, [...this.loopsOf(id), loop]);
  }

  /** True if the node `other` has run when the node `id` starts. */
  runsAfter(id: string, other: string): boolean {
    // `onExit` nodes start at the same time, after all other nodes.
    if (this.graph.exits.has(id)) return !this.graph.exits.has(other);
    if (this.ancestors.hasAncestor(id, other)) return true;
    return this.loopsOf(other).some(({ body, to }) => body.has(id) || this.ancestors.hasAncestor(id, to));
  }

  /** True if the node `other` has run when the outgoing edges of `id` are decided. */
  decidesAfter(id: string, other: string): boolean {
    return id === other || this.runsAfter(id, other);
  }

  /** True if a loop repeats both nodes. */
  isRepeated(id: string, other: string): boolean {
    return this.loopsOf(id).some(({ body }) => body.has(other));
  }

  private loopsOf(id: string): readonly Loop[] {
    return this.loops.get(id) ?? [];
  }
}
