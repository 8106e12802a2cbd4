import type { Loop } from '../loop.js';
import type { WorkflowGraph } from '../workflow-graph.js';
import type { InstanceName } from './instance-name.js';

/**
 * Instances that a rerun executes again: the named ones, and everything after them. A node in a loop that is named
 * without an iteration stands for the whole loop, from its first iteration on.
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
  /** Ids of the nodes that forward edges lead to, those of the start included. */
  reached: ReadonlySet<string>;
}

function comparePaths(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((iteration, place) => iteration !== other[place]);
  return at < 0 ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
}
