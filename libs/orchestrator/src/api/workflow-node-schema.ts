import type { ConfigSchema, NodeTypes } from '#libs/executor';
import { DURATION } from '#libs/expressions';
import type { JsonObject } from '#libs/protocol';
import { FAILURE_KINDS } from '../failure-kinds.js';
import { PERCENTAGE, RANGES } from '../ranges.js';
import { PASSING } from '../retry-policy.js';
import { WORKFLOW_NAME } from '../workflow-problems.js';
import { bodySchema } from './body-schema.js';
import {
  EachBody,
  FallbackBody,
  OutputBody,
  PositionBody,
  RetryBody,
  WaitBody,
  WorkflowNodeBody,
} from './workflow-node-body.js';

/** Returns the JSON Schema of a node. */
export function nodeSchema(nodeTypes: NodeTypes): JsonObject {
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

export function durationSchema(description: string): JsonObject {
  return { pattern: DURATION.source, description: `${description} E.g. 500ms, 1.5s, 2m, 48h, 7d.` };
}

export function wholeNumberSchema([minimum, maximum]: readonly [number, number], description: string): JsonObject {
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
