import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import type { WorkflowDefinition } from './workflow.js';

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
