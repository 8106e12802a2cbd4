import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { isRequired } from './run-inputs.js';
import type { WorkflowDefinition, WorkflowRevision } from './workflow.js';

/** Name and revision of a saved workflow, as a node names it. */
interface NamedWorkflow {
  workflow: string;
  /** Revision of the named workflow; absent: the newest revision at the time of the save. */
  revision?: string;
}

/** A `workflow` node that names a saved workflow, and the place of its config. */
export interface NamingNode extends NamedWorkflow {
  /**
   * Path of the config, for example `nodes[2].config`, or `nodes[1].config.body.nodes[0].config` in an inline
   * definition.
   */
  path: string;
  /** Id of the top-level node that is, or contains, this node. */
  node: string;
  /** Nesting depth of the run that the node starts: 1 for a top-level node. */
  level: number;
  /** Inputs for the named workflow, by name. If absent, the text of the Message to the node is the input. */
  inputs?: JsonObject;
}

/** Returns the nodes of a definition that name workflows, including nodes of inline definitions. */
export function namingNodes({ nodes }: WorkflowDefinition): NamingNode[] {
  return [...nodes.entries()].flatMap(([index, node]) =>
    namingIn(node, `nodes[${index}].config`).map((it) => ({ ...it, node: node.id })),
  );
}

/**
 * Returns a copy of the definition in which every node that names a workflow also names a revision. A revision that the
 * definition already names is kept.
 * @param revisionOf returns the revision to set for a workflow
 */
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

/**
 * Returns the config of a node with revisions added for the workflows that it names; `undefined` if nothing changes.
 */
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

/** Returns the nodes of an inline definition (`config.body`), unparsed; empty if the body has none. */
export function innerNodes(body: JsonValue | undefined): JsonValue[] {
  return isJsonObject(body) && Array.isArray(body['nodes']) ? body['nodes'] : [];
}

/** Lookup of saved workflows by name and optional revision. */
export interface SavedWorkflows {
  /** Returns the given revision, or the newest one; `undefined` if it does not exist. */
  get(name: string, revision?: string): Promise<WorkflowRevision | undefined>;
}

/**
 * Cached lookup of saved workflows. Each name and revision is read once. Only the parts of a definition that affect
 * nested runs and required inputs are cached.
 */
export class ReadWorkflows implements SavedWorkflows {
  private readonly read = new Map<string, Promise<WorkflowRevision | undefined>>();

  constructor(private readonly store: SavedWorkflows) {}

  /** Number of different names and revisions that were looked up. */
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

/**
 * Returns a copy of a revision that is reduced to what `ReadWorkflows` needs: the node ids, the workflows that the
 * nodes run, and the inputs that the workflow requires.
 */
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

/** Maximum nesting depth of runs: the number of levels below the first run. */
export const DEEPEST_RUN = 10;

/** Maximum number of revisions that are read to determine nesting depths. */
const MOST_READ = 1_000;

/**
 * Determines how deeply the runs of a saved workflow are nested: the number of levels of runs below a run of it. Saved
 * definitions name revisions, so the depth of a revision never changes and is cached.
 */
export class NestingDepth {
  private readonly known = new Map<string, number>();

  constructor(private readonly workflows: ReadWorkflows) {}

  /**
   * Returns the number of levels of runs below a run of the workflow. These workflows are not counted as a level: a
   * workflow that does not exist, a workflow that runs itself again, and all workflows beyond the first 1,000 that were
   * read.
   */
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
