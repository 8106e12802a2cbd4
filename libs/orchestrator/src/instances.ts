import { textBefore } from '#libs/protocol';
import type { NodeRun } from './node-run.js';
import type { WorkflowNode } from './workflow.js';

/** What an instance of a node is called: its id, the iterations of the loops around it, and its place in a list. */
export function instanceName(id: string, path: readonly number[], index?: number): string {
  const iterations = path.map((iteration) => `@${iteration}`).join('');
  return `${id}${iterations}${index === undefined ? '' : `[${index}]`}`;
}

/** The id in such a name, also of an instance that is not there yet. */
export function idOf(instance: string): string {
  return textBefore(instance, '@[');
}

/** The instances of a run's nodes. */
export class Instances {
  /** By id: the newest instance of each node; entries of lists are none of these. */
  readonly nodes = new Map<string, NodeRun>();
  readonly byName = new Map<string, NodeRun>();

  /** @param made is given each new one */
  constructor(private readonly made: (node: NodeRun) => void) {}

  /** The instance of a node in these iterations: a new one, pending, where there was none. */
  at(node: WorkflowNode, path: readonly number[]): NodeRun {
    const known = this.byName.get(instanceName(node.id, path));
    if (known) return known;
    const made = this.add(node, { path, ...(node.each && { each: newList() }) });
    this.nodes.set(node.id, made);
    return made;
  }

  /** The instance of an entry of the list that `list` goes through. */
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
