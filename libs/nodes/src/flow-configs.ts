import { DURATION, parseDuration, LONGEST_DURATION } from '#libs/expressions';
import type { NodeProblem, NodeSpec } from '#libs/executor';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { ConfigProblems } from './config-problems.js';
import { configSchema, PROMPT } from './config-schema.js';

const EXPRESSION = '${';

/** `set`: produces a value. */
export const SET_CONFIG = configSchema(
  {
    values: {
      type: 'object',
      description: 'The data that it gives. Texts may have {{references}}, and ${expressions} in language 2.',
    },
  },
  ['values'],
);

export function setProblems(node: NodeSpec): NodeProblem[] {
  return new ConfigProblems(node)
    .addUnless(node.config.values !== undefined, 'missing values config', 'values')
    .checkMember('values', 'must be an object', isJsonObject).found;
}

/** `wait`: waits for a duration or until a time. */
export const WAIT_CONFIG = {
  ...configSchema({
    for: {
      type: 'string',
      pattern: String.raw`${DURATION.source}|\$\{`,
      description:
        'How long: 500ms, 1.5s, 2m, 48h, 7d, a year at most; in language 2 also an ${expression} that gives it.',
    },
    until: {
      type: 'string',
      minLength: 1,
      description: "A CEL expression that gives a timestamp; what is past is at once. E.g. now + duration('1h').",
    },
  }),
  oneOf: [requireMember('for'), requireMember('until')],
};

export function waitProblems(node: NodeSpec): NodeProblem[] {
  const { for: length, until } = node.config;
  return new ConfigProblems(node)
    .addUnless((length === undefined) !== (until === undefined), 'must have either for or until')
    .checkMember('for', 'must be a duration (500ms, 1.5s, 2m, 48h, 7d) of a year at most, or an ${expression}', isWait)
    .checkMember('until', 'must be an expression', (it) => typeof it === 'string' && it !== '').found;
}

function isWait(value: JsonValue): boolean {
  if (typeof value !== 'string') return false;
  return value.includes(EXPRESSION) || (parseDuration(value) ?? Infinity) <= LONGEST_DURATION;
}

/** `human`: asks a person. */
export const HUMAN_CONFIG = configSchema({
  prompt: {
    ...PROMPT,
    description: 'The question; absent: what the nodes before it answered. May have {{references}}.',
  },
  form: {
    type: 'object',
    description: 'The JSON Schema (draft 7) that the answer has to fit, which is data then; absent: it is a text.',
  },
  assignee: {
    type: 'string',
    minLength: 1,
    maxLength: 200,
    description: 'Who is to answer: a label, by which the inbox can be filtered.',
  },
});

export function humanProblems(node: NodeSpec): NodeProblem[] {
  return new ConfigProblems(node)
    .checkStrings('prompt')
    .checkMember('form', 'must be an object', isJsonObject)
    .checkMember('assignee', 'must be a text of 1 to 200 characters', isLabel).found;
}

function isLabel(value: JsonValue): boolean {
  return typeof value === 'string' && value !== '' && value.length <= 200;
}

function requireMember(member: string): JsonObject {
  return { properties: { [member]: true }, required: [member] };
}
