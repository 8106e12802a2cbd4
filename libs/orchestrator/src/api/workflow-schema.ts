import type { NodeTypes } from '#libs/executor';
import type { JsonObject } from '#libs/protocol';
import { RANGES } from '../ranges.js';
import { RESERVED_MEMBERS } from '../unknown-members.js';
import { WORKFLOW_NAME } from '../workflow-problems.js';
import { bodySchema } from './body-schema.js';
import { ExitBody, WorkflowBody } from './workflow-body.js';
import { LoopBody, WorkflowEdgeBody } from './workflow-edge-body.js';
import { durationSchema, nodeSchema, wholeNumberSchema } from './workflow-node-schema.js';

/** Condition with more than one word: no variable of a condition is a boolean by itself. */
const CONDITION = String.raw`\W|^(true|false)$`;

/**
 * Returns the JSON Schema (2020-12) of a definition. It is derived from the validation rules, the reserved names and
 * the config schemas of the node types.
 * - It accepts every definition that the service accepts.
 * - The service rejects more, because no schema can check a graph.
 */
export function workflowSchema(nodeTypes: NodeTypes): JsonObject {
  const body = bodySchema(WorkflowBody, {
    $schema: { description: 'Where this schema is, for editors; it is kept.' },
    name: { pattern: WORKFLOW_NAME.source, description: 'The name, which its URLs have.' },
    description: { description: 'What the workflow does; its card says it.' },
    nodes: { minItems: 1, items: nodeSchema(nodeTypes), description: 'The nodes, each with an id of its own.' },
    edges: { items: edgeSchema(), description: 'What comes before what, without a circle but for edges back.' },
    onFailure: {
      default: 'cancel',
      description: 'cancel: the first failure ends the run. continue: only what descends from it is skipped.',
    },
    language: { enum: [1, 2], default: 1, description: '2: ${…} in a text of a config is a CEL expression.' },
    deadline: durationSchema('How long the run may take; what is not done by then is canceled, and the run fails.'),
    parallel: wholeNumberSchema(RANGES.parallel, 'How many nodes, and entries of lists, are at work at once.'),
    onExit: {
      items: exitSchema(),
      description: 'Nodes without edges that run when the outcome of the run is known, and do not change it.',
    },
  });
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'A workflow of Parley',
    ...body,
    // Unknown members only cause warnings; these names are errors.
    propertyNames: { not: { enum: [...RESERVED_MEMBERS] } },
  };
}

function exitSchema(): JsonObject {
  return bodySchema(ExitBody, {
    node: { description: 'The id of a node.' },
    on: { default: 'always', description: 'After which outcome; a run that was canceled counts as always alone.' },
  });
}

function edgeSchema(): JsonObject {
  return bodySchema(WorkflowEdgeBody, {
    from: { description: 'The id of a node.' },
    to: { description: 'The id of a node that does not begin before it has finished.' },
    when: {
      pattern: CONDITION,
      description: "Whether it is taken: CEL that gives true or false, e.g. nodes.gate.data.decision == 'yes'.",
    },
    on: {
      default: 'success',
      description: 'Which outcome of its source it is for; a failure that such an edge takes is handled.',
    },
    loop: { ...loopSchema(), description: 'Makes it an edge back, which repeats what lies between its ends.' },
  });
}

function loopSchema(): JsonObject {
  return bodySchema(LoopBody, {
    max_iterations: wholeNumberSchema(RANGES.max_iterations, 'How often it runs at most, the first time included.'),
    exit_when: {
      pattern: CONDITION,
      description: 'Asked after each iteration, whether it was the last: CEL that gives true or false.',
    },
    delay: durationSchema('How long it pauses between two iterations.'),
    on_max: {
      default: 'continue',
      description: 'What comes of a last iteration that exit_when does not end. fail: a failure, max-iterations.',
    },
    initial: {
      description: 'The text that stands, in the first iteration, for what the one before has said.',
    },
  });
}
