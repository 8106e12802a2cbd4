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
    id: { pattern: WORKFLOW_NAME.source, description: 'What edges, inputs and {{references}} call it.' },
    type: { enum: [...nodeTypes.names], description: 'What it does.' },
    config: { description: 'What its type has to know.' },
    position: { ...positionSchema(), description: 'Where an editor draws it.' },
    branch: {
      default: 'every',
      description:
        'every: each edge from it that applies is taken. first: the first one alone, in the order of the edges; an edge without a condition is the else, tried last.',
    },
    join: {
      ...joinSchema(),
      default: 'all',
      description: 'How many of the edges to it have to be taken for it to run.',
    },
    each: {
      ...eachSchema(),
      description: 'Runs it once for each entry of a list; its result is the list of their results.',
    },
    retry: { ...retrySchema(), description: 'When a failed attempt is made again.' },
    timeout: durationSchema('How long one attempt may take, the time that it waits for an answer left out.'),
    fallback: { ...fallbackSchema(), description: 'What its result is where no attempt succeeds.' },
    output: {
      ...outputSchema(),
      description: 'What its result has to be; anything else is a failure, invalid-output.',
    },
    onWait: { ...onWaitSchema(), description: 'What becomes of its questions where nobody answers them.' },
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
    x: { description: 'To the right.' },
    y: { description: 'Down.' },
  });
}

function joinSchema(): JsonObject {
  const properties = {
    n: { type: 'integer', minimum: 1, description: 'So many of them.' },
    cancelRest: {
      type: ['boolean', 'null'],
      description: 'true: once it runs, what only leads to it is canceled.',
    },
  };
  return {
    anyOf: [
      { const: 'all', description: 'It runs when all have settled, one is taken and none is broken.' },
      { const: 'any', description: 'It runs at the first that is taken.' },
      { type: 'object', properties, required: ['n'], description: 'It runs once so many are taken.' },
    ],
  };
}

function eachSchema(): JsonObject {
  return bodySchema(EachBody, {
    items: { description: 'The list: CEL, e.g. inputs.words. The expressions of the node know item and index.' },
    concurrency: { ...wholeNumberSchema(RANGES.concurrency, 'How many entries are at work at once.'), default: 5 },
    maxItems: { ...wholeNumberSchema(RANGES.maxItems, 'A longer list fails the node.'), default: 1_000 },
    onFailure: {
      default: 'fail',
      description:
        'fail: the first entry that fails cancels the rest. collect: it is null in the result, and the rest goes on.',
    },
    minSuccess: {
      anyOf: [
        { type: 'integer', minimum: 0, maximum: RANGES.maxItems[1] },
        { type: 'string', pattern: PERCENTAGE.source },
      ],
      description: 'Of collect: how many entries have to succeed, as a number or a percentage such as 80%.',
    },
  });
}

function retrySchema(): JsonObject {
  const [least, most] = RANGES.factor;
  return bodySchema(RetryBody, {
    attempts: wholeNumberSchema(RANGES.attempts, 'Attempts in all, with the first.'),
    on: {
      items: { enum: [...FAILURE_KINDS] },
      default: [...PASSING],
      description: 'After which kinds of failure.',
    },
    when: { minLength: 1, description: "After which failures: CEL, e.g. error.message.contains('busy')." },
    delay: { ...durationSchema('How long before the second attempt.'), default: '1s' },
    factor: { minimum: least, maximum: most, default: 2, description: 'How much longer before each one after it.' },
    maxDelay: { ...durationSchema('How long at most.'), default: '1m' },
    jitter: {
      minimum: RANGES.jitter[0],
      maximum: RANGES.jitter[1],
      default: 0.5,
      description: 'Which part of a delay is left to chance.',
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
      description: 'A2A Parts. Texts may have {{references}}, and ${expressions} in language 2, which know error.',
    },
  });
}

function outputSchema(): JsonObject {
  return bodySchema(OutputBody, {
    schema: { description: 'The JSON Schema (draft 7) of its data.' },
    parse: { description: 'true: JSON is read out of its text, as models write it.' },
  });
}

function onWaitSchema(): JsonObject {
  return bodySchema(WaitBody, {
    deadline: durationSchema('How long it waits for an answer.'),
    default: {
      anyOf: [{ type: 'object' }, { type: 'string' }],
      description: 'The answer then, an object as data or a string as text; absent: the node fails, timeout.',
    },
  });
}

function ofType(type: string): JsonObject {
  return { properties: { type: { const: type } }, required: ['type'] };
}

/** Returns the rule for a node with a config schema. A config with required members must be present. */
function withConfig(schema: ConfigSchema): JsonObject {
  const description = { type: 'string', description: "What the node does; its agent's card says it." };
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
