import { AncestorSets } from './ancestors.js';
import type { GraphEdge, GraphFault } from './graph-edge.js';
import type { Loop } from './loop.js';

/** Graph without its back-edges. */
interface ForwardGraph {
  /** Ids of the nodes, each after all of its predecessors. */
  readonly order: readonly string[];
  predecessors(id: string): string[];
  incoming(id: string): readonly GraphEdge[];
}

/** Loops of the back-edges of a graph, and the faults of those that form no loop. */
export class LoopBodies {
  readonly loops: readonly Loop[];
  readonly faults: readonly GraphFault[];

  /** @param graph graph without a cycle */
  constructor(
    private readonly graph: ForwardGraph,
    backEdges: readonly GraphEdge[],
  ) {
    const ancestors = backEdges.length > 0 ? new AncestorSets(graph) : undefined;
    this.loops = backEdges.map((edge) => this.createLoop(edge, ancestors));
    const faults = this.loops.flatMap((loop) => this.findLoopFaults(loop));
    this.faults = faults.length > 0 ? faults : findOverlap(this.loops);
  }

  private createLoop({ index, from, to, edge }: GraphEdge, ancestors: AncestorSets | undefined): Loop {
    const isWithin = (id: string) =>
      (id === to || ancestors?.hasAncestor(id, to) === true) &&
      (id === from || ancestors?.hasAncestor(from, id) === true);
    const config = edge.loop ?? { max_iterations: 1 };
    return { index, from, to, config, body: new Set(this.graph.order.filter(isWithin)) };
  }

  private findLoopFaults({ index, from, to, body }: Loop): GraphFault[] {
    const said = `loop edge from "${from}" to "${to}"`;
    if (body.size === 0)
      return [{ code: 'INVALID_LOOP', text: `${said}: "${to}" does not lead to "${from}"`, edge: index }];
    for (const id of body) {
      if (id === to) continue;
      const entry = this.graph.incoming(id).find((edge) => !body.has(edge.from));
      if (entry === undefined) continue;
      const text = `${said}: "${entry.from}" leads to "${id}" from outside, and what a loop repeats is entered at its "to" alone`;
      return [{ code: 'INVALID_LOOP', text, edge: index }];
    }
    return [];
  }
}

/**
 * Finds loops that overlap without one containing the other. Goes from the largest body to the smallest: all nodes of a
 * body must lie in the same innermost loop so far.
 */
function findOverlap(loops: readonly Loop[]): GraphFault[] {
  const innermost = new Map<string, Loop>();
  for (const loop of loops.toSorted((a, b) => b.body.size - a.body.size)) {
    const around = innermost.get(loop.to);
    for (const id of loop.body) {
      const other = innermost.get(id);
      if (other !== around || other?.body.size === loop.body.size) return [createOverlapFault(loop, other ?? around)];
      innermost.set(id, loop);
    }
  }
  return [];
}

function createOverlapFault({ index, from, to }: Loop, other: Loop | undefined): GraphFault {
  const text = `loop edges from "${from}" to "${to}" and from "${other?.from}" to "${other?.to}" repeat some of the same nodes: loops lie apart, or one in the other`;
  return { code: 'INVALID_LOOP', text, edge: index };
}
