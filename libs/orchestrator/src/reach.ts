import { Ancestors } from './ancestors.js';
import type { Loop } from './loop.js';
import type { WorkflowGraph } from './workflow-graph.js';

/**
 * Which nodes have run, whatever happens, when another one is about to: those before it; all that a loop repeats where
 * the loop is before it; and in a loop all that it repeats, which have run in the iteration before if not in this one.
 */
export class Reach {
  private readonly ancestors: Ancestors;
  /** By node: the loops that repeat it. */
  private readonly loops = new Map<string, Loop[]>();

  constructor(private readonly graph: WorkflowGraph) {
    this.ancestors = new Ancestors(graph);
    for (const loop of graph.loops) for (const id of loop.body) this.loops.set(id, [...this.loopsOf(id), loop]);
  }

  /** Whether a node has run when another one is about to. */
  has(id: string, other: string): boolean {
    // What runs at the end runs at once, and after everything else.
    if (this.graph.exits.has(id)) return !this.graph.exits.has(other);
    if (this.ancestors.has(id, other)) return true;
    return this.loopsOf(other).some(({ body, to }) => body.has(id) || this.ancestors.has(id, to));
  }

  /** Whether a node has run when edges from another one are decided. */
  hasAfter(id: string, other: string): boolean {
    return id === other || this.has(id, other);
  }

  /** Whether a loop repeats both. */
  isRepeated(id: string, other: string): boolean {
    return this.loopsOf(id).some(({ body }) => body.has(other));
  }

  private loopsOf(id: string): readonly Loop[] {
    return this.loops.get(id) ?? [];
  }
}
