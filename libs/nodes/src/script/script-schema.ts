import { A2A_ERRORS, type JsonObject } from '#libs/protocol';
import { MEDIA_TYPE, MOST_ENTRIES } from './declaration.js';
import { MAX_PATTERN } from './parse-script.js';
import { MAX_SLEEP_MS } from './step-problem.js';

const textSchema = (description: string): JsonObject => ({ type: 'string', description });
const flagSchema = (description: string): JsonObject => ({ type: 'boolean', description });
const objectSchema = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
});
const closedSchema = (properties: JsonObject, more: JsonObject = {}): JsonObject =>
  objectSchema(properties, { ...more, additionalProperties: false });
const listSchema = (items: JsonObject, description: string): JsonObject => ({
  type: 'array',
  minItems: 1,
  maxItems: MOST_ENTRIES,
  items,
  description,
});

const PART = objectSchema(
  {
    text: textSchema('Text. {{text}} in it is the text of the incoming Message.'),
    raw: textSchema("A file's bytes, in base64."),
    url: textSchema('Where a file is.'),
    data: { description: 'Any JSON value.' },
  },
  { oneOf: ['text', 'raw', 'url', 'data'].map((content) => ({ properties: { [content]: {} }, required: [content] })) },
);
const PARTS: JsonObject = { type: 'array', minItems: 1, items: PART, description: 'A2A Parts.' };

const ARTIFACT = objectSchema(
  {
    artifactId: textSchema('Its id; chunks of one Artifact have the same.'),
    name: textSchema('Its name.'),
    description: textSchema('What it is.'),
    parts: PARTS,
    append: flagSchema('Whether the Parts continue the Artifact of this id.'),
    lastChunk: flagSchema('Whether the Artifact is complete with them.'),
  },
  { required: ['parts'], description: 'Gives an Artifact, or a chunk of one.' },
);

/** Keys of steps; a step has exactly one of them. */
const STEPS: Record<string, JsonObject> = {
  status: { const: 'working', description: 'Says that the agent works, with a text or without.' },
  artifact: ARTIFACT,
  echo: { const: true, description: "Gives the Message's Parts as an Artifact." },
  sleep: { type: 'number', minimum: 0, maximum: MAX_SLEEP_MS, description: 'Waits so many milliseconds.' },
  reply: { ...PARTS, description: 'Answers with a Message of these Parts, and no Task.' },
  ask: textSchema('Asks: INPUT_REQUIRED. Ends the turn.'),
  authorize: textSchema('Asks for authentication: AUTH_REQUIRED. Ends the turn.'),
  complete: { anyOf: [{ type: 'string' }, { const: true }, { type: 'null' }], description: 'Ends the Task COMPLETED.' },
  fail: textSchema('Ends the Task FAILED.'),
  reject: textSchema('Ends the Task REJECTED.'),
  throw: { enum: Object.keys(A2A_ERRORS), description: 'Refuses the Message with this error of the protocol.' },
};
/** Steps that may have a text beside their key. */
const WITH_TEXT = new Set(['status', 'throw']);

const STEP: JsonObject = {
  anyOf: Object.entries(STEPS).map(([key, schema]) =>
    closedSchema(
      { [key]: schema, ...(WITH_TEXT.has(key) && { text: textSchema('What is said.') }) },
      { required: [key] },
    ),
  ),
};

const EXTENSION = closedSchema(
  {
    uri: { type: 'string', pattern: '^[^\\s,]{1,500}$', description: 'Its URI.' },
    description: textSchema('What the agent does with it.'),
    required: flagSchema('Whether callers have to know it.'),
    params: { type: 'object', description: 'Its parameters.' },
  },
  { required: ['uri'] },
);
const MODE: JsonObject = { type: 'string', pattern: MEDIA_TYPE.source };

const AGENT = closedSchema(
  {
    inputModes: listSchema(MODE, 'The media types that the agent reads.'),
    outputModes: listSchema(MODE, 'The media types that it writes.'),
    streaming: flagSchema('Whether it streams.'),
    pushNotifications: flagSchema('Whether it sends push notifications.'),
    extensions: listSchema(EXTENSION, 'The extensions of the protocol that it knows.'),
  },
  { description: "What the agent's card says where that is not the usual." },
);

const EXPRESSION: JsonObject = { type: 'string', maxLength: MAX_PATTERN };

const CONDITION = closedSchema(
  {
    messageId: { ...EXPRESSION, description: "An expression (RE2) for the Message's id." },
    text: { ...EXPRESSION, description: "An expression (RE2) for the Message's text." },
    data: { description: 'What the first data Part has to contain.' },
    turn: { type: 'integer', minimum: 1, description: 'Which Message of the Task it is, from 1.' },
  },
  { description: 'What has to hold; all of it.' },
);

const RULE = closedSchema({
  when: CONDITION,
  steps: { type: 'array', items: STEP, description: 'What the agent does then, in this order.' },
});

/** JSON Schema of a script. `scriptProblems` additionally checks rules that concern the whole script. */
export const SCRIPT_SCHEMA: JsonObject = closedSchema(
  {
    agent: AGENT,
    rules: { type: 'array', items: RULE, description: 'The first rule that matches the Message runs.' },
    otherwise: { type: 'array', items: STEP, description: 'What the agent does where no rule matches.' },
  },
  { description: 'A scripted agent.' },
);
