import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { isRequired } from './run-inputs.js';
import type { WorkflowDefinition, WorkflowRevision } from './workflow.js';

/** Reference of a node to a saved workflow. */
export interface NamedWorkflow {
  workflow: string;
  /** Pinned revision; absent: the newest one at the time of the save. */
  revision?: string;
}

/** A `workflow` node that names a saved workflow, and the place of its config. */
export interface NamingNode extends NamedWorkflow {
  /** Example: `nodes[2].config`, or `nodes[1].config.body.nodes[0].config`. */
  path: string;
  /** Top-level node that is, or contains, this node. */
  node: string;
  /** Nesting depth of the run that the node starts: 1 for a top-level node. */
  level: number;
  /** Inputs of the workflow by name; absent: the text of the Message is the input. */
  inputs?: JsonObject;
}

/** Returns the nodes of a definition that name workflows, including nodes of inline definitions. */
export function namingNodes({ nodes }: WorkflowDefinition): NamingNode[] {
  return [...nodes.entries()].flatMap(([index, node]) =>
    namingIn(node, `nodes[${index}].config`).map((it) => ({ ...it, node: node.id })),
  );
}

/** Returns the definition with pinned revisions. A node that names a revision keeps it. */
export function withRevisions(
  definition: WorkflowDefinition,
  revisionOf: (name: string) => string,
): WorkflowDefinition {
  const nodes = definition.nodes.map((node) => ({ ...node, config: pinnedConfig(node, revisionOf) ?? node.config }));
  return { ...definition, nodes };
}

type AnyNode = { type?: JsonValue; config?: JsonValue };

function namingIn({ type, config }: AnyNode, path: string, level = 1): Omit<NamingNode, 'node'>[] {
  if (type !== 'workflow' || !isJsonObject(config)) return [];
  const { workflow, revision, body, inputs } = config;
  if (typeof workflow === 'string') {
    const given = { ...(typeof revision === 'string' && { revision }), ...(isJsonObject(inputs) && { inputs }) };
    return [{ workflow, path, level, ...given }];
  }
  return innerNodes(body).flatMap((node, index) =>
    isJsonObject(node) ? namingIn(node, `${path}.body.nodes[${index}].config`, level + 1) : [],
  );
}

/** Returns the config with pinned revisions; `undefined` if nothing changes. */
function pinnedConfig({ type, config }: AnyNode, revisionOf: (name: string) => string): JsonObject | undefined {
  if (type !== 'workflow' || !isJsonObject(config)) return undefined;
  const { workflow, revision, body } = config;
  if (typeof workflow === 'string')
    return revision === undefined ? { ...config, revision: revisionOf(workflow) } : undefined;
  if (!isJsonObject(body)) return undefined;
  const nodes = innerNodes(body).map((node) => {
    const pinned = isJsonObject(node) ? pinnedConfig(node, revisionOf) : undefined;
    return pinned && isJsonObject(node) ? { ...node, config: pinned } : node;
  });
  return { ...config, body: { ...body, nodes } };
}

/** Returns the nodes of an inline definition. */
export function innerNodes(body: JsonValue | undefined): JsonValue[] {
  return isJsonObject(body) && Array.isArray(body['nodes']) ? body['nodes'] : [];
}

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

/** Largest nesting depth of runs below the first. */
export const DEEPEST_RUN = 10;

/** Number of workflows that are read to determine the nesting depth. */
const MOST_READ = 1_000;

/**
 * Determines how deep the runs of a definition are nested. Saved definitions name revisions, so the depth is constant.
 */
export class NestingDepth {
  private readonly known = new Map<string, number>();

  constructor(private readonly workflows: ReadWorkflows) {}

  /** Returns the depth below a run of a saved workflow; 0 if the workflow does not exist, or runs itself. */
  async countBelow(workflow: string, revision: string | undefined): Promise<number> {
    const key = `${workflow}@${revision ?? ''}`;
    const known = this.known.get(key);
    if (known !== undefined || this.known.size >= MOST_READ) return known ?? 0;
    this.known.set(key, 0);
    const found = await this.workflows.get(workflow, revision);
    const levels = found ? await this.deepestOf(found.definition.nodes as unknown as JsonValue[]) : 0;
    this.known.set(key, levels);
    return levels;
  }

  private async deepestOf(nodes: readonly JsonValue[]): Promise<number> {
    let deepest = 0;
    for (const node of nodes) deepest = Math.max(deepest, await this.depthOfNode(node));
    return deepest;
  }

  private async depthOfNode(node: JsonValue): Promise<number> {
    if (!isJsonObject(node) || node['type'] !== 'workflow' || !isJsonObject(node['config'])) return 0;
    const { workflow, revision, body } = node['config'];
    if (typeof workflow !== 'string') return 1 + (await this.deepestOf(innerNodes(body)));
    return 1 + (await this.countBelow(workflow, typeof revision === 'string' ? revision : undefined));
  }
}
