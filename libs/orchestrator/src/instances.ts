import { textBefore } from '#libs/protocol';
import type { NodeInstance } from './node-run.js';
import type { WorkflowNode } from './workflow.js';

/** Returns the name of an instance: the node's id, the iterations of the enclosing loops, and the index in a list. */
export function formatInstanceName(id: string, path: readonly number[], index?: number): string {
  const iterations = path.map((iteration) => `@${iteration}`).join('');
  return `${id}${iterations}${index === undefined ? '' : `[${index}]`}`;
}

/** Returns the node's id from the name of an instance, which need not exist yet. */
export function readNodeId(instance: string): string {
  return textBefore(instance, '@[');
}

/** Instances of a run's nodes. */
export class Instances {
  /** Newest instance of each node, by id; entries of lists are not included. */
  readonly nodes = new Map<string, NodeInstance>();
  readonly byName = new Map<string, NodeInstance>();

  /** @param made called with each new instance */
  constructor(private readonly made: (node: NodeInstance) => void) {}

  /** Returns the instance of a node in these iterations. Creates it, pending, if there is none. */
  ensureInstance(node: WorkflowNode, path: readonly number[]): NodeInstance {
    const known = this.byName.get(formatInstanceName(node.id, path));
    if (known) return known;
    const made = this.createInstance(node, { path, ...(node.each && { each: newList() }) });
    this.nodes.set(node.id, made);
    return made;
  }

  /** Creates the instance of an entry of `list`. */
  addListEntry(node: WorkflowNode, list: NodeInstance, index: number): NodeInstance {
    return this.createInstance(node, { path: list.path, index, list });
  }

  private createInstance(
    { id, type }: WorkflowNode,
    place: Pick<NodeInstance, 'path' | 'index' | 'list' | 'each'>,
  ): NodeInstance {
    const instance = formatInstanceName(id, place.path, place.index);
    const made: NodeInstance = { id, type, instance, ...place, status: 'pending', attempts: 0, artifacts: [] };
    this.byName.set(instance, made);
    this.made(made);
    return made;
  }
}

function newList(): NonNullable<NodeInstance['each']> {
  return { total: 0, runs: [], completed: 0, failed: 0, canceled: 0 };
}
