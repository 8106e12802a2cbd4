import { setTimeout as delay } from 'node:timers/promises';
import type { AgentDeclaration, AgentExecutor, NodeProblem, NodeSpec, NodeType, RequestContext } from '#libs/agents';
import {
  addMilliseconds,
  droppedData,
  DURATION,
  InputSchema,
  LONGEST_DURATION,
  parseDuration,
  readAnswer,
} from '#libs/expressions';
import {
  dataPart,
  FORM_EXTENSION,
  formMessage,
  type FormQuestion,
  formQuestion,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Message,
  type Part,
  runEventNote,
  statusUpdate,
  TextBudget,
  textPart,
  textStart,
} from '#libs/protocol';
import { DEFAULT_CONTENT_LIMITS } from '#libs/service';
import { evaluateTime, filledIn } from './config-texts.js';
import { ConfigProblems, configSchema, PROMPT } from './node-config.js';
import { type NodeEvent, NodeExecutor, NodeFailure, type NodeWork, typedParts, workStep } from './node-executor.js';

const EXPRESSION = '${';

/** JSON Schema of the config of `set`. */
export const SET_CONFIG = configSchema(
  {
    values: {
      type: 'object',
      description: 'Data that the node returns. Strings may contain {{references}}, and ${expressions} in language 2.',
    },
  },
  ['values'],
);

export function setProblems(node: NodeSpec): NodeProblem[] {
  return new ConfigProblems(node)
    .addUnless(node.config.values !== undefined, 'missing values config', 'values')
    .checkMember('values', 'must be an object', isJsonObject).found;
}

/** JSON Schema of the config of `wait`: either a duration (`for`) or a time (`until`). */
export const WAIT_CONFIG = {
  ...configSchema({
    for: {
      type: 'string',
      pattern: String.raw`${DURATION.source}|\$\{`,
      description: 'Duration: 500ms, 1.5s, 2m, 48h, 7d, at most a year; in language 2 also an ${expression}.',
    },
    until: {
      type: 'string',
      minLength: 1,
      description:
        "CEL expression that returns a timestamp, such as now + duration('1h'). A past time ends the wait immediately.",
    },
  }),
  oneOf: [requireMember('for'), requireMember('until')],
};

export function waitProblems(node: NodeSpec): NodeProblem[] {
  const { for: length, until } = node.config;
  return new ConfigProblems(node)
    .addUnless((length === undefined) !== (until === undefined), 'must have exactly one of for and until')
    .checkMember('for', 'must be a duration (500ms, 1.5s, 2m, 48h, 7d) of a year at most, or an ${expression}', isWait)
    .checkMember('until', 'must be an expression', (it) => typeof it === 'string' && it !== '').found;
}

function isWait(value: JsonValue): boolean {
  if (typeof value !== 'string') return false;
  return value.includes(EXPRESSION) || (parseDuration(value) ?? Infinity) <= LONGEST_DURATION;
}

/** JSON Schema of the config of `human`. */
export const HUMAN_CONFIG = configSchema({
  prompt: {
    ...PROMPT,
    description: 'Question; default: the answers of the nodes before it. May contain {{references}}.',
  },
  form: {
    type: 'object',
    description: 'JSON Schema (draft 7) of the answer, which becomes data; without it the answer is a text.',
  },
  assignee: {
    type: 'string',
    minLength: 1,
    maxLength: 200,
    description: 'Label of the person who answers; the inbox can be filtered by it.',
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

/**
 * Node type `set`: outputs the values of its config. The executor is used only if the node is called directly; a run
 * evaluates the values without it.
 */
export class SetNode implements NodeType {
  readonly name = 'set';
  readonly configSchema = SET_CONFIG;

  constructor(private readonly renderedText = DEFAULT_CONTENT_LIMITS.renderedText) {}

  findProblems(node: NodeSpec): NodeProblem[] {
    return setProblems(node);
  }

  createExecutor(node: NodeSpec): AgentExecutor {
    return new SetExecutor(node, this.renderedText);
  }
}

class SetExecutor extends NodeExecutor {
  override readonly recovery = 'restart';
  override readonly declares: AgentDeclaration = {
    does: 'Answers with values that its workflow says.',
    outputModes: ['application/json'],
  };

  constructor(
    node: NodeSpec,
    private readonly renderedText: number,
  ) {
    super(node);
  }

  // oxlint-disable-next-line require-yield -- it has no events of its own
  protected override async *performWork({ userMessage }: RequestContext): NodeWork {
    return [
      dataPart(filledIn(this.node.config.values ?? {}, this.node, userMessage, new TextBudget(this.renderedText))),
    ];
  }
}

/**
 * Longest wait during which a replica keeps executing the Task, in milliseconds. For a longer wait, the replica parks
 * the Task: it releases the Task until the end of the wait.
 */
const LONGEST_HELD_MS = 30_000;
/** Maximum delay of a timer of Node.js, in milliseconds. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** Type of the event that records when the wait ends. After a crash, the node waits until the recorded time. */
const WAITING = 'node.waiting';

/**
 * Node type `wait`: waits, then outputs its input. The executor is used only if the node is called directly; a run
 * waits without it.
 */
export class WaitNode implements NodeType {
  readonly name = 'wait';
  readonly configSchema = WAIT_CONFIG;

  findProblems(node: NodeSpec): NodeProblem[] {
    return waitProblems(node);
  }

  createExecutor(node: NodeSpec): AgentExecutor {
    return new WaitExecutor(node);
  }
}

class WaitExecutor extends NodeExecutor {
  override readonly recovery = 'restart';
  override readonly declares: AgentDeclaration = { does: 'Waits, and answers with what it was told.' };

  protected override async *performWork(context: RequestContext): NodeWork {
    const until = (await waitedFor(context)) ?? this.#computeEnd(context);
    const noted = workStep(context, WAITING, { until: until.toISOString() });
    yield until.getTime() - Date.now() > LONGEST_HELD_MS ? { ...noted, parks: until } : noted;
    await waitUntilTime(until, context.signal);
    return typedParts(context.userMessage.parts);
  }

  #computeEnd({ userMessage }: RequestContext): Date {
    const { for: duration, until } = this.node.config;
    const now = new Date();
    const end =
      typeof until === 'string' ? evaluateTime(until, userMessage, now) : this.#endAfter(duration, userMessage, now);
    if (end.getTime() - now.getTime() > LONGEST_DURATION)
      throw new NodeFailure('the wait must not be longer than a year');
    return end;
  }

  #endAfter(duration: JsonValue | undefined, message: RequestContext['userMessage'], now: Date): Date {
    const given = filledIn(duration ?? null, this.node, message);
    const milliseconds = parseDuration(given);
    if (milliseconds !== undefined) return addMilliseconds(now, milliseconds);
    throw new NodeFailure(`for is not a duration: ${textStart(JSON.stringify(given), 50)}`);
  }
}

/** Returns the end of the wait that an earlier execution of this turn recorded; `undefined` if there is no record. */
async function waitedFor(context: RequestContext): Promise<Date | undefined> {
  const { recovered } = context;
  if (recovered === 0) return undefined;
  for (const event of (await context.readTaskLog()).slice(-recovered).toReversed()) {
    const note = 'statusUpdate' in event ? runEventNote(event.statusUpdate.metadata) : undefined;
    const until = note?.type === WAITING && note.payload['until'];
    if (typeof until === 'string') return new Date(until);
  }
  return undefined;
}

async function waitUntilTime(end: Date, signal: AbortSignal): Promise<void> {
  for (let left = end.getTime() - Date.now(); left > 0; left = end.getTime() - Date.now())
    await delay(Math.min(left, LONGEST_TIMER_MS), undefined, { signal });
}

/** Node type `human`: asks the caller, and outputs the answer. The answer must conform to the form, if there is one. */
export class HumanNode implements NodeType {
  readonly name = 'human';
  readonly configSchema = HUMAN_CONFIG;

  /**
   * Returns the problems of a config. The form is not checked here: libs/workflow-definition checks it with all schemas
   * of the workflow.
   */
  findProblems(node: NodeSpec): NodeProblem[] {
    return humanProblems(node);
  }

  createExecutor(node: NodeSpec): AgentExecutor {
    return new HumanExecutor(node);
  }
}

class HumanExecutor extends NodeExecutor {
  override readonly recovery = 'restart';
  override readonly declares: AgentDeclaration;
  readonly #form: InputSchema | undefined;

  constructor(node: NodeSpec) {
    super(node);
    this.#form = InputSchema.ifValid(node.config.form);
    const json = 'application/json';
    this.declares = {
      does: 'Asks a person, and answers with what they answer.',
      inputModes: ['text/plain', json],
      outputModes: this.#form ? [json] : ['text/plain', json],
      capabilities: { extensions: [FORM] },
    };
  }

  protected override async *performWork(context: RequestContext): NodeWork {
    const { task, userMessage } = context;
    const asked = task?.status.message;
    if (asked === undefined) {
      yield this.#firstQuestion(context);
      return undefined;
    }
    const read = this.#readFormAnswer(userMessage.parts);
    if ('answer' in read) return [read.answer];
    const { violations: _, ...question } = formQuestion(asked) ?? {};
    yield questionUpdate(context, asked.parts, { ...question, violations: read.violations });
    return undefined;
  }

  /**
   * Reads the answer to the question. Text beside the data that answers a form is ignored; further data is rejected.
   */
  #readFormAnswer(parts: readonly Part[]): ReturnType<typeof readAnswer> {
    const violations = droppedData(this.#form, parts);
    return violations.length > 0 ? { violations } : readAnswer(this.#form, parts);
  }

  #firstQuestion(context: RequestContext): NodeEvent {
    const { form, assignee } = this.node.config;
    const patience = parseDuration(this.node.onWait?.deadline);
    return questionUpdate(context, this.#promptParts(context.userMessage), {
      ...(this.#form && { form: form as FormQuestion['form'] }),
      ...(typeof assignee === 'string' && { assignee }),
      ...(patience !== undefined && { deadline: addMilliseconds(new Date(), patience).toISOString() }),
    });
  }

  /**
   * Returns the Parts of the question: the Parts of the Message, which in a run contain the prompt. If the Message has
   * no text, a text is added in front: the prompt of the config with its templates filled in, or a default text without
   * a prompt.
   */
  #promptParts(message: Message): Part[] {
    const parts = typedParts(message.parts);
    if (parts.some(({ text }) => text !== undefined && text !== '')) return parts;
    const { prompt } = this.node.config;
    const words = typeof prompt === 'string' ? filledIn(prompt, this.node, message) : '';
    const text = typeof words === 'string' ? words : JSON.stringify(words);
    return [textPart(text || 'An answer is needed'), ...parts.filter((part) => part.text === undefined)];
  }
}

const FORM = {
  uri: FORM_EXTENSION,
  description:
    'A Message that asks says in its metadata, under this URI, what the answer has to be: { "form": JSON Schema of the ' +
    'data Part that answers, "assignee": a label, "deadline": until when, "violations": what was wrong with the last ' +
    'answer }. Each is left out where there is none; without a form the answer is a text.',
  required: false,
};

function questionUpdate(context: RequestContext, parts: Part[], question: FormQuestion): NodeEvent {
  const event = statusUpdate(context, 'TASK_STATE_INPUT_REQUIRED');
  event.statusUpdate.status.message = formMessage(context, parts, question);
  return event;
}
