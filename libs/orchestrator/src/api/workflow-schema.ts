import type { ConfigSchema, NodeTypes } from '#libs/executor';
import type { JsonObject } from '#libs/protocol';
import { RESERVED_MEMBERS } from '../unknown-members.js';
import { WORKFLOW_NAME } from '../workflow-problems.js';
import { bodySchema } from './body-schema.js';
import { PositionBody, WorkflowBody, WorkflowEdgeBody, WorkflowNodeBody } from './workflow-body.js';

/**
 * The JSON Schema (2020-12) of a definition: made of the rules that definitions are read by, of the names that are
 * refused, and of what the node types say of their configs. It takes whatever the service takes; of the rest the service
 * refuses more, as no schema sees a graph.
 */
export function workflowSchema(nodeTypes: NodeTypes): JsonObject {
  const body = bodySchema(WorkflowBody, {
    $schema: { description: 'Where this schema is, for editors; it is kept.' },
    name: { pattern: WORKFLOW_NAME.source, description: 'The name, which its URLs have.' },
    description: { description: 'What the workflow does; its card says it.' },
    nodes: { minItems: 1, items: nodeSchema(nodeTypes), description: 'The nodes, each with an id of its own.' },
    edges: { items: edgeSchema(), description: 'What comes before what, without a circle.' },
    onFailure: {
      default: 'cancel',
      description: 'cancel: the first failure ends the run. continue: only what descends from it is skipped.',
    },
  });
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'A workflow of Parley',
    ...body,
    propertyNames: noneOf(RESERVED_MEMBERS.workflow),
  };
}

function nodeSchema(nodeTypes: NodeTypes): JsonObject {
  const position = bodySchema(PositionBody, {
    x: { description: 'To the right.' },
    y: { description: 'Down.' },
  });
  const body = bodySchema(WorkflowNodeBody, {
    id: { pattern: WORKFLOW_NAME.source, description: 'What edges, inputs and {{references}} call it.' },
    type: { enum: [...nodeTypes.names], description: 'What it does.' },
    config: { description: 'What its type has to know.' },
    position: { ...position, description: 'Where an editor draws it.' },
  });
  return {
    ...body,
    propertyNames: noneOf(RESERVED_MEMBERS.node),
    allOf: nodeTypes.names.flatMap((type) => {
      const config = nodeTypes.configSchema(type);
      return config ? [{ if: ofType(type), then: withConfig(config) }] : [];
    }),
  };
}

function edgeSchema(): JsonObject {
  const body = bodySchema(WorkflowEdgeBody, {
    from: { description: 'The id of a node.' },
    to: { description: 'The id of a node that does not begin before it has finished.' },
  });
  return { ...body, propertyNames: noneOf(RESERVED_MEMBERS.edge) };
}

/** Members that are not known are told of and left out; those that are reserved are refused. */
function noneOf(names: string[]): JsonObject {
  return { not: { enum: names } };
}

function ofType(type: string): JsonObject {
  return { properties: { type: { const: type } }, required: ['type'] };
}

/** A config without which the type does not do must be there. */
function withConfig(schema: ConfigSchema): JsonObject {
  const description = { type: 'string', description: "What the node does; its agent's card says it." };
  const config = { ...schema, properties: { ...schema.properties, description } };
  if (schema['required'] !== undefined) return { properties: { config }, required: ['config'] };
  return { properties: { config: { ...config, type: ['object', 'null'] } } };
}
