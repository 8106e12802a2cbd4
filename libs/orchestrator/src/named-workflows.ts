import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import type { WorkflowDefinition } from './workflow.js';

/** A workflow that a node of a definition names. */
export interface NamedWorkflow {
  workflow: string;
  /** Absent: the newest when the definition is saved. */
  revision?: string;
}

/** A `workflow` node that names one, and where its config stands in the definition. */
export interface NamingNode extends NamedWorkflow {
  /** For example `nodes[2].config`, or `nodes[1].config.body.nodes[0].config`. */
  path: string;
  /** The node of the definition itself that it is, or stands in. */
  node: string;
  /** How many runs lie in each other down to the one that it starts: 1 for a node of the definition itself. */
  level: number;
  /** What it gives to the inputs of the workflow, by name; absent: a text is the input. */
  inputs?: JsonObject;
}

/** The nodes of a definition that name workflows, those included that stand in its nodes. */
export function namingNodes({ nodes }: WorkflowDefinition): NamingNode[] {
  return [...nodes.entries()].flatMap(([index, node]) =>
    namingIn(node, `nodes[${index}].config`).map((it) => ({ ...it, node: node.id })),
  );
}

/** The definition with the revisions that a function gives; what has one keeps it. */
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

/** `undefined` where nothing is to be changed. */
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

/** The nodes of a definition that stands in a node. */
export function innerNodes(body: JsonValue | undefined): JsonValue[] {
  return isJsonObject(body) && Array.isArray(body['nodes']) ? body['nodes'] : [];
}
