import { textBefore } from '#libs/protocol';
import type { NodeRun } from './node-run.js';
import type { WorkflowNode } from './workflow.js';

/** Returns the name of an instance: the node's id, the iterations of the enclosing loops, and the index in a list. */
export function instanceName(id: string, path: readonly number[], index?: number): string {
  const iterations = path.map((iteration) => `@${iteration}`).join('');
  return `${id}${iterations}${index === undefined ? '' : `[${index}]`}`;
}

/** Returns the node's id from the name of an instance, which need not exist yet. */
export function idOf(instance: string): string {
  return textBefore(instance, '@[');
}

/** Instances of a run's nodes. */
export class Instances {
  /** Newest instance of each node, by id; entries of lists are not included. */
  readonly nodes = new Map<string, NodeRun>();
  readonly byName = new Map<string, NodeRun>();

  /** @param made called with each new instance */
  constructor(private readonly made: (node: NodeRun) => void) {}

  /** Returns the instance of a node in these iterations. Creates it, pending, if there is none. */
  at(node: WorkflowNode, path: readonly number[]): NodeRun {
    const known = this.byName.get(instanceName(node.id, path));
    if (known) return known;
    const made = this.add(node, { path, ...(node.each && { each: newList() }) });
    this.nodes.set(node.id, made);
    return made;
  }

  /** Creates the instance of an entry of `list`. */
  entry(node: WorkflowNode, list: NodeRun, index: number): NodeRun {
    return this.add(node, { path: list.path, index, list });
  }

  private add({ id, type }: WorkflowNode, place: Pick<NodeRun, 'path' | 'index' | 'list' | 'each'>): NodeRun {
    const instance = instanceName(id, place.path, place.index);
    const made: NodeRun = { id, type, instance, ...place, status: 'pending', attempts: 0, artifacts: [] };
    this.byName.set(instance, made);
    this.made(made);
    return made;
  }
}

function newList(): NonNullable<NodeRun['each']> {
  return { total: 0, runs: [], completed: 0, failed: 0, canceled: 0 };
}
