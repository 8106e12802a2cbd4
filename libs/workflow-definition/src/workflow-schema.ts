import { getMetadataStorage } from 'class-validator';
import type { ConfigSchema, NodeTypes } from '#libs/executor';
import { DURATION } from '#libs/expressions';
import type { JsonObject, JsonValue } from '#libs/protocol';
import { PERCENTAGE, RANGES } from './definition-limits.js';
import { FAILURE_KINDS, PASSING } from './failure.js';
import { RESERVED_MEMBERS } from './sent-definition.js';
import { ExitBody, LoopBody, WorkflowBody, WorkflowEdgeBody } from './workflow-body.js';
import {
  EachBody,
  FallbackBody,
  OutputBody,
  PositionBody,
  RetryBody,
  WaitBody,
  WorkflowNodeBody,
} from './workflow-node-body.js';
import { WORKFLOW_NAME } from './workflow-problems.js';

/** The part of class-validator's metadata that is read here. */
interface ValidationRule {
  propertyName: string;
  type: string;
  name?: string;
  /** Arguments of the decorator. */
  constraints?: readonly unknown[];
}

/** JSON Schema keywords for the rules of class-validator. */
const WORDS: Readonly<Record<string, (constraint: JsonValue) => JsonObject>> = {
  isString: () => ({ type: 'string' }),
  isNumber: () => ({ type: 'number' }),
  isBoolean: () => ({ type: 'boolean' }),
  isObject: () => ({ type: 'object' }),
  isArray: () => ({ type: 'array' }),
  arrayMaxSize: (maxItems) => ({ maxItems }),
  isIn: (values) => ({ enum: values }),
  // These rules carry their own schema in `members`.
  isNumberOrString: () => ({}),
  isJoin: () => ({}),
  eachEntry: () => ({}),
};

/**
 * Returns the JSON Schema of a request body class. It is derived from the validation rules that `readBody` applies.
 * @param members further keywords for each member, such as its description and its items; `sent` is excluded
 * @throws TypeError for a rule without an entry in `WORDS`
 */
export function bodySchema<T extends object>(
  type: abstract new () => T,
  members: { [Member in keyof Required<Omit<T, 'sent'>>]: JsonObject },
): JsonObject {
  const rules = Map.groupBy(rulesOf(type), ({ propertyName }) => propertyName);
  const names = Object.keys(members) as (keyof typeof members & string)[];
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, memberSchema(rules.get(name) ?? [], members[name])])),
    required: names.filter((name) => !(rules.get(name) ?? []).some(isOptional)),
  };
}

function rulesOf(type: abstract new () => object): ValidationRule[] {
  return getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
}

/** Builds the schema of one member. An optional member also accepts null. */
function memberSchema(rules: ValidationRule[], more: JsonObject): JsonObject {
  const found = rules.filter((rule) => !isOptional(rule) && rule.type !== 'nestedValidation').map(wordOf);
  const schema: JsonObject = Object.assign({}, ...found, more);
  if (!rules.some(isOptional)) return schema;
  const { type, enum: values, anyOf } = schema;
  return {
    ...schema,
    ...(type !== undefined && { type: [...new Set([type, 'null'].flat())] }),
    ...(Array.isArray(values) && { enum: [...values, null] }),
    ...(Array.isArray(anyOf) && { anyOf: [...anyOf, { type: 'null' }] }),
  };
}

function isOptional({ type }: ValidationRule): boolean {
  return type === 'conditionalValidation';
}

function wordOf({ name = '', constraints }: ValidationRule): JsonObject {
  const word = WORDS[name];
  if (!word) throw new TypeError(`the rule "${name}" has no word in JSON Schema`);
  return word(constraints?.[0] as JsonValue);
}

/** Returns the JSON Schema of a node. */
function nodeSchema(nodeTypes: NodeTypes): JsonObject {
  const body = bodySchema(WorkflowNodeBody, {
    id: { pattern: WORKFLOW_NAME.source, description: 'Id of the node, for edges, inputs and {{references}}.' },
    type: { enum: [...nodeTypes.names], description: 'Type of the node.' },
    config: { description: 'Settings of the node type.' },
    position: { ...positionSchema(), description: 'Position of the node in an editor.' },
    branch: {
      default: 'every',
      description:
        'every: takes all matching outgoing edges. first: takes only the first match, in order; an edge without a condition is the else, tried last.',
    },
    join: {
      ...joinSchema(),
      default: 'all',
      description: 'Number of incoming edges that must be taken for the node to run.',
    },
    each: {
      ...eachSchema(),
      description: 'Runs the node once for each entry of a list; its result is the list of their results.',
    },
    retry: { ...retrySchema(), description: 'Conditions and delays of retries.' },
    timeout: durationSchema('Time limit of one attempt, without the time that it waits for an answer.'),
    fallback: { ...fallbackSchema(), description: 'Result of the node if no attempt succeeds.' },
    output: {
      ...outputSchema(),
      description: 'Required form of the result; any other result fails with invalid-output.',
    },
    onWait: { ...onWaitSchema(), description: 'Handling of questions that get no answer.' },
  });
  return {
    ...body,
    allOf: nodeTypes.names.flatMap((type) => {
      const config = nodeTypes.configSchema(type);
      return config ? [{ if: ofType(type), then: withConfig(config) }] : [];
    }),
  };
}

function durationSchema(description: string): JsonObject {
  return { pattern: DURATION.source, description: `${description} E.g. 500ms, 1.5s, 2m, 48h, 7d.` };
}

function wholeNumberSchema([minimum, maximum]: readonly [number, number], description: string): JsonObject {
  return { type: 'integer', minimum, maximum, description };
}

function positionSchema(): JsonObject {
  return bodySchema(PositionBody, {
    x: { description: 'Horizontal position, to the right.' },
    y: { description: 'Vertical position, downwards.' },
  });
}

function joinSchema(): JsonObject {
  const properties = {
    n: { type: 'integer', minimum: 1, description: 'Number of edges that must be taken.' },
    cancelRest: {
      type: ['boolean', 'null'],
      description: 'true: once the node runs, nodes that lead only to it are canceled.',
    },
  };
  return {
    anyOf: [
      { const: 'all', description: 'Runs when all edges are settled, at least one is taken and none is broken.' },
      { const: 'any', description: 'Runs at the first edge that is taken.' },
      { type: 'object', properties, required: ['n'], description: 'Runs once this number of edges is taken.' },
    ],
  };
}

function eachSchema(): JsonObject {
  return bodySchema(EachBody, {
    items: {
      description: 'CEL expression of the list, such as inputs.words. Expressions of the node may use item and index.',
    },
    concurrency: {
      ...wholeNumberSchema(RANGES.concurrency, 'Maximum number of entries that run at once.'),
      default: 5,
    },
    maxItems: {
      ...wholeNumberSchema(RANGES.maxItems, 'Maximum length of the list; a longer list fails the node.'),
      default: 1_000,
    },
    onFailure: {
      default: 'fail',
      description:
        'fail: the first entry that fails cancels the rest. collect: a failed entry is null in the result, and the rest continues.',
    },
    minSuccess: {
      anyOf: [
        { type: 'integer', minimum: 0, maximum: RANGES.maxItems[1] },
        { type: 'string', pattern: PERCENTAGE.source },
      ],
      description: 'With collect: entries that must succeed, as a number or a percentage such as 80%.',
    },
  });
}

function retrySchema(): JsonObject {
  const [least, most] = RANGES.factor;
  return bodySchema(RetryBody, {
    attempts: wholeNumberSchema(RANGES.attempts, 'Maximum number of attempts, including the first.'),
    on: {
      items: { enum: [...FAILURE_KINDS] },
      default: [...PASSING],
      description: 'Kinds of failure to retry.',
    },
    when: { minLength: 1, description: "CEL condition of failures to retry, such as error.message.contains('busy')." },
    delay: { ...durationSchema('Delay before the second attempt.'), default: '1s' },
    factor: {
      minimum: least,
      maximum: most,
      default: 2,
      description: 'Factor by which the delay grows for each further attempt.',
    },
    maxDelay: { ...durationSchema('Maximum delay.'), default: '1m' },
    jitter: {
      minimum: RANGES.jitter[0],
      maximum: RANGES.jitter[1],
      default: 0.5,
      description: 'Random share of a delay.',
    },
  });
}

function fallbackSchema(): JsonObject {
  const contents = [
    ['text', 'string'],
    ['raw', 'string'],
    ['url', 'string'],
    ['data', undefined],
  ] as const;
  return bodySchema(FallbackBody, {
    parts: {
      items: {
        type: 'object',
        oneOf: contents.map(([name, type]) => ({ properties: { [name]: type ? { type } : true }, required: [name] })),
      },
      description:
        'A2A Parts. Strings may contain {{references}}, and in language 2 ${expressions}, which may use error.',
    },
  });
}

function outputSchema(): JsonObject {
  return bodySchema(OutputBody, {
    schema: { description: 'JSON Schema (draft 7) of the data of the result.' },
    parse: { description: 'true: JSON is extracted from the text of the result, as models write it.' },
  });
}

function onWaitSchema(): JsonObject {
  return bodySchema(WaitBody, {
    deadline: durationSchema('Time to wait for an answer.'),
    default: {
      anyOf: [{ type: 'object' }, { type: 'string' }],
      description:
        'Answer after the deadline, an object as data or a string as text; without it the node fails with timeout.',
    },
  });
}

function ofType(type: string): JsonObject {
  return { properties: { type: { const: type } }, required: ['type'] };
}

/** Returns the rule for a node with a config schema. A config with required members must be present. */
function withConfig(schema: ConfigSchema): JsonObject {
  const description = { type: 'string', description: 'Description of the node, shown in the card of its agent.' };
  const config = { ...schema, properties: { ...schema.properties, description } };
  if (schema['required'] !== undefined || schema['oneOf'] !== undefined)
    return { properties: { config }, required: ['config'] };
  return { properties: { config: { ...config, type: ['object', 'null'] } } };
}

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
    $schema: { description: 'URL of this schema, for editors; it is stored.' },
    name: { pattern: WORKFLOW_NAME.source, description: 'Name of the workflow, part of its URLs.' },
    description: { description: 'Description of the workflow, shown in its card.' },
    nodes: { minItems: 1, items: nodeSchema(nodeTypes), description: 'Nodes, each with a unique id.' },
    edges: { items: edgeSchema(), description: 'Edges between nodes, without cycles except loop edges.' },
    onFailure: {
      default: 'cancel',
      description: 'cancel: the first failure ends the run. continue: only its descendants are skipped.',
    },
    language: { enum: [1, 2], default: 1, description: '2: ${…} in a string of a config is a CEL expression.' },
    deadline: durationSchema('Time limit of the run; then unfinished nodes are canceled, and the run fails.'),
    parallel: wholeNumberSchema(RANGES.parallel, 'Maximum number of nodes and list entries that run at once.'),
    onExit: {
      items: exitSchema(),
      description: 'Nodes without edges that run once the outcome of the run is known, without changing it.',
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
    on: { default: 'always', description: 'Outcome after which the node runs; a canceled run matches always only.' },
  });
}

function edgeSchema(): JsonObject {
  return bodySchema(WorkflowEdgeBody, {
    from: { description: 'The id of a node.' },
    to: { description: 'Id of the node that starts after it.' },
    when: {
      pattern: CONDITION,
      description: "CEL condition of the edge, true or false, such as nodes.gate.data.decision == 'yes'.",
    },
    on: {
      default: 'success',
      description: 'Outcome of the source at which the edge applies; a failure that an edge takes is handled.',
    },
    loop: { ...loopSchema(), description: 'Makes the edge a loop, which repeats the nodes between its ends.' },
  });
}

function loopSchema(): JsonObject {
  return bodySchema(LoopBody, {
    max_iterations: wholeNumberSchema(RANGES.max_iterations, 'Maximum number of iterations, including the first.'),
    exit_when: {
      pattern: CONDITION,
      description: 'CEL condition, checked after each iteration; true ends the loop.',
    },
    delay: durationSchema('Pause between two iterations.'),
    on_max: {
      default: 'continue',
      description: 'Effect of reaching max_iterations before exit_when is true. fail: fails with max-iterations.',
    },
    initial: {
      description: 'Text of the previous iteration, as seen by the first one.',
    },
  });
}
