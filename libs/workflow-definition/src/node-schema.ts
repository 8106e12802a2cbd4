import { DURATION } from '#libs/expressions';
import { isJsonObject, type JsonObject, type JsonValue, type Part } from '#libs/protocol';
import { FAILURE_KINDS, PASSING } from './failure.js';
import {
  defaultedMember,
  flagMember,
  integerMember,
  listMember,
  numberMember,
  objectMember,
  objectShape,
  optionalMember,
  recordMember,
  shapeFaults,
  shapeSchema,
  type Stored,
  storedObject,
  textMember,
  textsMember,
  valueMember,
  wordMember,
} from './shape.js';

/** Pattern of valid workflow names and node ids. */
export const WORKFLOW_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;

/** Inclusive ranges of the numbers in a definition. */
export const RANGES = {
  attempts: [1, 100],
  factor: [1, 100],
  jitter: [0, 1],
  concurrency: [1, 1_000],
  maxItems: [1, 10_000],
  parallel: [1, 10_000],
  max_iterations: [1, 100],
  loops: [0, 100],
  usd: [0.000001, 1_000_000],
  tokens: [1, 1_000_000_000_000],
} as const;

/** Pattern of a percentage from 0% to 100%. */
export const PERCENTAGE = /^(100(\.0+)?|\d{1,2}(\.\d+)?)%$/;

/**
 * Pattern of a CEL condition for the JSON Schema: `true`, `false`, or any text that is not a single word. A single word
 * would be a variable, and no variable is a boolean.
 */
export const CONDITION = String.raw`\W|^(true|false)$`;
/** Description of a condition in OpenAPI. */
export const CONDITION_API = 'CEL that gives true or false.';

/** Values of `on`: outcomes of a node or a run that select an edge, or an `onExit` node. */
export const OUTCOMES = ['success', 'failure', 'always'] as const;

/** Returns the JSON Schema keywords of a duration, such as `2m`. */
export function durationSchema(description: string): JsonObject {
  return { pattern: DURATION.source, description: `${description} E.g. 500ms, 1.5s, 2m, 48h, 7d.` };
}

/** Shape of a position in an editor. */
export const POSITION = objectShape('PositionBody', undefined, {
  x: numberMember({ description: 'Horizontal position, to the right.' }, { example: 120 }),
  y: numberMember({ description: 'Vertical position, downwards.' }, { example: 80 }),
});

const JOIN = objectShape('JoinBody', 'a join', {
  n: numberMember({ type: 'integer', minimum: 1, description: 'Number of edges that must be taken.' }),
  cancelRest: optionalMember(
    flagMember({ description: 'true: once the node runs, nodes that lead only to it are canceled.' }),
  ),
});

const EACH = objectShape('EachBody', 'an each', {
  items: textMember(
    {
      description: 'CEL expression of the list, such as inputs.words. Expressions of the node may use item and index.',
    },
    { description: 'CEL that gives a list.', example: 'inputs.words' },
  ),
  concurrency: optionalMember(
    integerMember(
      RANGES.concurrency,
      { description: 'Maximum number of entries that run at once.', default: 5 },
      { maximum: undefined },
    ),
  ),
  maxItems: optionalMember(
    integerMember(RANGES.maxItems, {
      description: 'Maximum length of the list; a longer list fails the node.',
      default: 1_000,
    }),
  ),
  onFailure: optionalMember(
    wordMember(['fail', 'collect'], {
      default: 'fail',
      description:
        'fail: the first entry that fails cancels the rest. collect: a failed entry is null in the result, and the rest continues.',
    }),
  ),
  minSuccess: optionalMember(
    valueMember<number | string>(
      {
        anyOf: [
          { type: 'integer', minimum: 0, maximum: RANGES.maxItems[1] },
          { type: 'string', pattern: PERCENTAGE.source },
        ],
        description: 'With collect: entries that must succeed, as a number or a percentage such as 80%.',
      },
      { oneOf: [{ type: 'integer' }, { type: 'string' }], example: '80%' },
      (it) => ['number', 'string'].includes(typeof it),
      'must be a number or a percentage such as "80%"',
    ),
  ),
});

const RETRY = objectShape('RetryBody', 'a retry', {
  attempts: integerMember(
    RANGES.attempts,
    { description: 'Maximum number of attempts, including the first.' },
    { example: 3 },
  ),
  on: optionalMember(
    textsMember(
      { items: { enum: [...FAILURE_KINDS] }, default: [...PASSING], description: 'Kinds of failure to retry.' },
      { example: ['timeout', 'server-error'] },
    ),
  ),
  when: optionalMember(
    textMember(
      {
        minLength: 1,
        description: "CEL condition of failures to retry, such as error.message.contains('busy').",
      },
      { description: CONDITION_API, example: "error.kind != 'failed'" },
    ),
  ),
  delay: optionalMember(textMember({ ...durationSchema('Delay before the second attempt.'), default: '1s' })),
  factor: optionalMember(
    numberMember(
      {
        minimum: RANGES.factor[0],
        maximum: RANGES.factor[1],
        default: 2,
        description: 'Factor by which the delay grows for each further attempt.',
      },
      { maximum: undefined },
    ),
  ),
  maxDelay: optionalMember(textMember({ ...durationSchema('Maximum delay.'), default: '1m' })),
  jitter: optionalMember(
    numberMember({
      minimum: RANGES.jitter[0],
      maximum: RANGES.jitter[1],
      default: 0.5,
      description: 'Random share of a delay.',
    }),
  ),
});

const TEXT_CONTENTS = ['text', 'raw', 'url'].map((name) => [name, { type: 'string' }] as const);

const FALLBACK = objectShape('FallbackBody', 'a fallback', {
  parts: listMember<Part>(
    {
      items: {
        type: 'object',
        oneOf: [...TEXT_CONTENTS, ['data', true] as const].map(([name, schema]) => ({
          properties: { [name]: schema },
          required: [name],
        })),
      },
      description:
        'A2A Parts. Strings may contain {{references}}, and in language 2 ${expressions}, which may use error.',
    },
    { items: { type: 'object' }, example: [{ text: 'Nobody knows' }] },
  ),
});

const OUTPUT = objectShape('OutputBody', 'an output', {
  schema: optionalMember(
    recordMember({ description: 'JSON Schema (draft 7) of the data of the result.' }, { example: { type: 'object' } }),
  ),
  parse: optionalMember(
    flagMember({ description: 'true: JSON is extracted from the text of the result, as models write it.' }),
  ),
});

const WAIT = objectShape('WaitBody', 'an onWait', {
  deadline: textMember(durationSchema('Time to wait for an answer.'), { example: '48h' }),
  default: optionalMember(
    valueMember<JsonValue>(
      {
        anyOf: [{ type: 'object' }, { type: 'string' }],
        description:
          'Answer after the deadline, an object as data or a string as text; without it the node fails with timeout.',
      },
      { oneOf: [{ type: 'object' }, { type: 'string' }], example: { decision: 'no' } },
      () => true,
      '',
    ),
  ),
});

/** Number of incoming edges that must be live (taken) for a node to run. */
export type Join = 'all' | 'any' | Stored<typeof JOIN.members>;

const JOIN_MEMBER = {
  ...valueMember<Join>(
    {
      anyOf: [
        { const: 'all', description: 'Runs when all edges are settled, at least one is taken and none is broken.' },
        { const: 'any', description: 'Runs at the first edge that is taken.' },
        { ...shapeSchema(JOIN), description: 'Runs once this number of edges is taken.' },
      ],
      default: 'all',
      description: 'Number of incoming edges that must be taken for the node to run.',
    },
    {
      oneOf: [
        { type: 'string', enum: ['all', 'any'] },
        { type: 'object', example: { n: 2, cancelRest: true } },
      ],
      default: 'all',
    },
    (it) => it === 'all' || it === 'any' || (isJsonObject(it) && shapeFaults(JOIN, it).next().done === true),
    'must be "all", "any" or {"n": a number, "cancelRest": true or false}',
  ),
  shape: JOIN,
  store: (it: JsonValue) => (isJsonObject(it) ? storedObject(JOIN, it) : (it as Join)),
};

/** Shape of a node. For each member, the keywords for the JSON Schema come first, then the keywords for OpenAPI. */
export const NODE = objectShape('WorkflowNodeBody', 'a node', {
  id: textMember(
    { pattern: WORKFLOW_NAME.source, description: 'Id of the node, for edges, inputs and {{references}}.' },
    { pattern: WORKFLOW_NAME.source, example: 'writer' },
  ),
  type: textMember(
    { description: 'Type of the node.' },
    {
      examples: [
        ...['input', 'agent', 'tool', 'output', 'external', 'script'],
        ...['set', 'wait', 'human', 'workflow', 'conversation', 'brainstorm'],
      ],
    },
  ),
  config: defaultedMember(
    recordMember({ description: 'Settings of the node type.' }, { example: { prompt: 'Greet {{topic}}' } }),
    () => ({}),
  ),
  position: optionalMember(objectMember(POSITION, { description: 'Position of the node in an editor.' })),
  branch: optionalMember(
    wordMember(['every', 'first'], {
      default: 'every',
      description:
        'every: takes all matching outgoing edges. first: takes only the first match, in order; an edge without a condition is the else, tried last.',
    }),
  ),
  join: optionalMember(JOIN_MEMBER),
  each: optionalMember(
    objectMember(
      EACH,
      { description: 'Runs the node once for each entry of a list; its result is the list of their results.' },
      { description: 'Runs the node once for each entry of a list.' },
    ),
  ),
  retry: optionalMember(objectMember(RETRY, { description: 'Conditions and delays of retries.' })),
  timeout: optionalMember(
    textMember(durationSchema('Time limit of one attempt, without the time that it waits for an answer.'), {
      description: 'Time limit of one attempt.',
      example: '2m',
    }),
  ),
  fallback: optionalMember(objectMember(FALLBACK, { description: 'Result of the node if no attempt succeeds.' })),
  output: optionalMember(
    objectMember(
      OUTPUT,
      { description: 'Required form of the result; any other result fails with invalid-output.' },
      { description: 'Required form of the result.' },
    ),
  ),
  onWait: optionalMember(objectMember(WAIT, { description: 'Handling of questions that get no answer.' })),
});
