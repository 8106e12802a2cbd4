import type { ConfigSchema, NodeTypes } from '#libs/agents';
import type { JsonObject } from '#libs/protocol';
import { DEFINITION } from './definition-schema.js';
import { NODE } from './node-schema.js';
import { shapeSchema } from './shape.js';

/**
 * Returns the JSON Schema (2020-12) of a definition. It is derived from `DEFINITION` and the config schemas of the node
 * types.
 * - It accepts every definition that the service accepts.
 * - The service rejects some definitions that the schema accepts, because no schema can check a graph.
 */
export function workflowSchema(nodeTypes: NodeTypes): JsonObject {
  const body = shapeSchema(DEFINITION);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'A workflow of Parley',
    ...body,
    properties: { ...body.properties, nodes: { ...DEFINITION.members.nodes.schema, items: nodeSchema(nodeTypes) } },
  };
}

function nodeSchema(nodeTypes: NodeTypes): JsonObject {
  const node = shapeSchema(NODE);
  const { type = 'string', ...others } = NODE.members.type.schema;
  return {
    ...node,
    properties: { ...node.properties, type: { type, enum: [...nodeTypes.names], ...others } },
    allOf: nodeTypes.names.flatMap((type) => {
      const config = nodeTypes.configSchema(type);
      return config ? [{ if: ofType(type), then: withConfig(config) }] : [];
    }),
  };
}

function ofType(type: string): JsonObject {
  return { properties: { type: { const: type } }, required: ['type'] };
}

/**
 * Returns the JSON Schema of a node, given the schema of its config. The config must be present if it has required
 * members.
 */
function withConfig(schema: ConfigSchema): JsonObject {
  const description = { type: 'string', description: 'Description of the node, shown in the card of its agent.' };
  const config = { ...schema, properties: { ...schema.properties, description } };
  if (schema['required'] !== undefined || schema['oneOf'] !== undefined)
    return { properties: { config }, required: ['config'] };
  return { properties: { config: { ...config, type: ['object', 'null'] } } };
}
