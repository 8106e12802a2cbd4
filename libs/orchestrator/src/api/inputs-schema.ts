import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import type { WorkflowNode } from '../workflow.js';

/** Members that locate a schema; they do not apply to an embedded copy. */
const PLACES = new Set(['$schema', '$id', 'id']);

/**
 * Returns the JSON Schema of a run's inputs: one object with a property for each `input` node. The schema of an input
 * is embedded as written, unless it contains a `$ref`.
 */
export function inputsSchema(nodes: readonly WorkflowNode[]): JsonObject {
  const inputs = nodes.filter(({ type }) => type === 'input');
  const required = inputs.filter(isRequired);
  return {
    type: 'object',
    properties: Object.fromEntries(inputs.map((it) => [it.id, inputSchema(it)])),
    ...(required.length > 0 && { required: required.map(({ id }) => id) }),
  };
}

/** True if a run cannot start without the input. */
export function isRequired({ config }: Pick<WorkflowNode, 'config'>): boolean {
  return config['optional'] !== true && config['default'] === undefined;
}

function inputSchema({ id, config }: WorkflowNode): JsonObject {
  const written = config['schema'];
  const movable = isJsonObject(written) && !hasReference(written) ? written : {};
  const schema = Object.fromEntries(Object.entries(movable).filter(([name]) => !PLACES.has(name)));
  const said = config['description'];
  return {
    description: typeof said === 'string' && said !== '' ? said : `The input of the node ${id}`,
    ...schema,
    ...(config['default'] !== undefined && { default: config['default'] }),
  };
}

function hasReference(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, it]) => name === '$ref' || hasReference(it as JsonValue));
}
