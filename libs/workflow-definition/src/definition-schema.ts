import {
  CONDITION,
  CONDITION_API,
  durationSchema,
  NODE,
  OUTCOMES,
  POSITION,
  RANGES,
  WORKFLOW_NAME,
} from './node-schema.js';
import {
  defaultedMember,
  integerMember,
  numberMember,
  objectMember,
  objectShape,
  objectsMember,
  optionalMember,
  textMember,
  textsMember,
  wordMember,
} from './shape.js';

const LOOP = objectShape('LoopBody', 'a loop', {
  max_iterations: integerMember(
    RANGES.max_iterations,
    { description: 'Maximum number of iterations, including the first.' },
    { example: 5 },
  ),
  exit_when: optionalMember(
    textMember(
      { pattern: CONDITION, description: 'CEL condition, checked after each iteration; true ends the loop.' },
      { description: CONDITION_API, example: 'nodes.review.data.good' },
    ),
  ),
  delay: optionalMember(textMember(durationSchema('Pause between two iterations.'), { example: '10s' })),
  on_max: optionalMember(
    wordMember(['continue', 'fail'], {
      default: 'continue',
      description: 'Effect of reaching max_iterations before exit_when is true. fail: fails with max-iterations.',
    }),
  ),
  initial: optionalMember(
    textMember(
      { description: 'Text of the previous iteration, as seen by the first one.' },
      { example: 'There is no draft yet.' },
    ),
  ),
});

/** Shape of an edge in a definition. */
export const EDGE = objectShape('WorkflowEdgeBody', 'an edge', {
  from: textMember(
    { description: 'Id of the source node.' },
    { description: 'Id of the source node.', example: 'topic' },
  ),
  to: textMember(
    { description: 'Id of the target node, which starts after the source node.' },
    { description: 'Id of the target node.', example: 'writer' },
  ),
  when: optionalMember(
    textMember(
      {
        pattern: CONDITION,
        description: "CEL condition of the edge, true or false, such as nodes.gate.data.decision == 'yes'.",
      },
      { description: CONDITION_API, example: "nodes.gate.data.decision == 'yes'" },
    ),
  ),
  on: optionalMember(
    wordMember(OUTCOMES, {
      default: 'success',
      description: 'Outcome of the source at which the edge applies; a failure that an edge takes is handled.',
    }),
  ),
  loop: optionalMember(
    objectMember(LOOP, { description: 'Makes the edge a loop, which repeats the nodes between its ends.' }),
  ),
});

/** Shape of an entry of `onExit`. */
export const EXIT = objectShape('ExitBody', 'an entry of onExit', {
  node: textMember({ description: 'Id of the node.' }, { description: 'Id of the node.', example: 'notify' }),
  on: optionalMember(
    wordMember(OUTCOMES, {
      default: 'always',
      description: 'Outcome after which the node runs; a canceled run matches always only.',
    }),
  ),
});

/** Shape of `concurrency`, the limit on simultaneous runs. */
const CONCURRENCY = objectShape('ConcurrencyBody', 'concurrency', {
  limit: integerMember(
    RANGES.concurrency,
    { description: 'Maximum number of runs that have begun and have not ended, over all replicas; 1: one at a time.' },
    { example: 1 },
  ),
  key: optionalMember(
    textMember(
      { description: 'CEL expression over inputs and run: each value has a limit of its own.' },
      { description: 'CEL expression: each value has a limit of its own.', example: 'inputs.customer' },
    ),
  ),
  onFull: optionalMember(
    wordMember(['wait', 'skip', 'cancel-oldest'], {
      default: 'wait',
      description: 'What a further run does. skip: it is canceled. cancel-oldest: the oldest run is canceled for it.',
    }),
  ),
});

/** Shape of `budget`, the limit on what a run may spend. */
export const BUDGET = objectShape('BudgetBody', 'a budget', {
  usd: optionalMember(
    numberMember(
      {
        minimum: RANGES.usd[0],
        maximum: RANGES.usd[1],
        description:
          'Maximum cost of the calls of models, in US dollars. Every model that the run calls needs a price.',
      },
      { example: 1.5 },
    ),
  ),
  tokens: optionalMember(
    integerMember(
      RANGES.tokens,
      { description: 'Maximum number of tokens of the calls of models, input and output together.' },
      { example: 200_000 },
    ),
  ),
  onExceeded: optionalMember(
    wordMember(['stop', 'ask', 'warn'], {
      default: 'stop',
      description:
        'What happens at the next call of a model. stop: the node fails with budget-exceeded. ask: the node asks how ' +
        'much more may be spent. warn: the run records an event and continues.',
    }),
  ),
});

/** Shape of a note: a comment in a definition. A run ignores notes. */
export const NOTE = objectShape('NoteBody', 'a note', {
  text: textMember({ description: 'Text of the note.' }, { example: 'Ask Mia before you change these prompts.' }),
  position: objectMember(POSITION, { description: 'Position of the note in an editor.' }),
});

/** Media type, or range of media types such as `image/*`. */
export const MEDIA_RANGE = /^(\*\/\*|[\w!#$&^.+-]{1,127}\/(\*|[\w!#$&^.+-]{1,127}))$/;
/** Maximum number of input modes of a workflow. */
export const MOST_MODES = 100;

/** Members that the service adds to a definition in its responses. They are ignored in a request body. */
const VIEW_MEMBERS = ['revision', 'createdAt', 'updatedAt', 'problems'];

const MEMBERS = {
  $schema: optionalMember(
    textMember(
      { description: 'URL of this schema, for editors; it is stored.' },
      {
        description: 'URL of the JSON Schema of definitions, for editors; it is stored.',
        example: 'https://parley.example/schemas/workflow.json',
      },
    ),
  ),
  name: textMember(
    { pattern: WORKFLOW_NAME.source, description: 'Name of the workflow, part of its URLs.' },
    {
      pattern: WORKFLOW_NAME.source,
      description: 'Name of the workflow; a name in the path takes precedence.',
      example: 'greeting',
    },
  ),
  description: optionalMember(
    textMember(
      { description: 'Description of the workflow, shown in its card.' },
      { example: 'Greets a person by name.' },
    ),
  ),
  inputModes: optionalMember(
    textsMember(
      {
        minItems: 1,
        maxItems: MOST_MODES,
        items: { type: 'string', pattern: MEDIA_RANGE.source },
        description: 'Media types that a Message to the workflow may have; default: those that its first nodes read.',
      },
      {
        description: 'Media types of Messages to the workflow; default: those that its first nodes read.',
        example: ['text/plain', 'image/*'],
      },
    ),
  ),
  nodes: objectsMember(NODE, 1000, { minItems: 1, description: 'Nodes, each with a unique id.' }),
  edges: defaultedMember(
    objectsMember(EDGE, 10_000, { description: 'Edges between nodes, without cycles except loop edges.' }),
    () => [],
  ),
  onFailure: optionalMember(
    wordMember(['cancel', 'continue'], {
      default: 'cancel',
      description: 'cancel: the first failure ends the run. continue: only its descendants are skipped.',
    }),
  ),
  language: optionalMember(
    numberMember<1 | 2>(
      { enum: [1, 2], default: 1, description: '2: ${…} in a string of a config is a CEL expression.' },
      { description: '1: strings are plain text with `{{references}}`. 2: `${…}` in a string is also an expression.' },
    ),
  ),
  deadline: optionalMember(
    textMember(durationSchema('Time limit of the run; then unfinished nodes are canceled, and the run fails.'), {
      description: 'Time limit of the whole run.',
      example: '2h',
    }),
  ),
  parallel: optionalMember(
    integerMember(
      RANGES.parallel,
      { description: 'Maximum number of nodes and list entries that run at once.' },
      { description: 'Maximum number of nodes that run at once.', example: 20 },
    ),
  ),
  concurrency: optionalMember(
    objectMember(CONCURRENCY, { description: 'Limits the runs of the workflow that are under way at the same time.' }),
  ),
  budget: optionalMember(
    objectMember(BUDGET, {
      minProperties: 1,
      description: 'Limits what a run spends on models, with all runs, conversations and agents that it calls.',
    }),
  ),
  onExit: optionalMember(
    objectsMember(EXIT, 100, {
      description: 'Nodes without edges that run once the outcome of the run is known, without changing it.',
    }),
  ),
  notes: optionalMember(objectsMember(NOTE, 100, { description: 'Notes for people, shown in an editor.' })),
};

/**
 * Shape of a definition. From it are derived: the checks, the stored form, the TypeScript type, the JSON Schema and the
 * OpenAPI documentation.
 */
export const DEFINITION = objectShape('WorkflowBody', 'a workflow', MEMBERS, VIEW_MEMBERS);
