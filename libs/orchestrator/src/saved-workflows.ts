import { isJsonObject, type JsonObject } from '#libs/protocol';
import { isRequired } from './api/inputs-schema.js';
import { innerNodes } from './named-workflows.js';
import type { WorkflowRevision } from './workflow.js';

/** Lookup of workflows by name and optional revision. */
export interface SavedWorkflows {
  /** Returns the newest revision, or the given one. */
  get(name: string, revision?: string): Promise<WorkflowRevision | undefined>;
}

/** Lookup that reads each workflow once. It keeps only the nodes that affect nested runs and inputs. */
export class ReadWorkflows implements SavedWorkflows {
  private readonly read = new Map<string, Promise<WorkflowRevision | undefined>>();

  constructor(private readonly store: SavedWorkflows) {}

  /** Number of workflows that were looked up. */
  get size(): number {
    return this.read.size;
  }

  get(name: string, revision?: string): Promise<WorkflowRevision | undefined> {
    const key = `${name}@${revision ?? ''}`;
    const known = this.read.get(key) ?? this.store.get(name, revision).then((found) => found && runningNodes(found));
    this.read.set(key, known);
    return known;
  }
}

/** Returns a revision reduced to the workflows that it runs and the inputs that it requires. */
function runningNodes({ definition, ...saved }: WorkflowRevision): WorkflowRevision {
  const nodes = definition.nodes.flatMap(({ id, type, config }) => {
    if (type === 'workflow') return [{ id, type, config: runningConfig(config) }];
    return [{ id, type, config: type === 'input' ? { optional: !isRequired({ config }) } : {} }];
  });
  return { ...saved, definition: { name: definition.name, nodes, edges: [] } };
}

function runningConfig({ workflow, revision, body }: JsonObject): JsonObject {
  const nodes = innerNodes(body).flatMap((node) => {
    if (!isJsonObject(node) || node['type'] !== 'workflow' || !isJsonObject(node['config'])) return [];
    return [{ type: 'workflow', config: runningConfig(node['config']) }];
  });
  if (typeof workflow !== 'string') return { body: { nodes } };
  return { workflow, ...(typeof revision === 'string' && { revision }) };
}
