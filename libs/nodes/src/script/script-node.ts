import { setTimeout as delay } from 'node:timers/promises';
import {
  type AgentDeclaration,
  AgentExecutor,
  type NodeProblem,
  type NodeSpec,
  type NodeType,
  type RequestContext,
} from '#libs/agents';
import type { SharedUse } from '#libs/expressions';
import {
  A2A_ERRORS,
  A2AError,
  agentMessage,
  artifactUpdate,
  ContentTooLarge,
  firstData,
  firstText,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Message,
  type Part,
  type SendMessageRequest,
  statusUpdate,
  TextBudget,
} from '#libs/protocol';
import { type ContentLimits, DEFAULT_CONTENT_LIMITS } from '#libs/service';
import { withText } from '../config-texts.js';
import { configSchema, DATA } from '../node-config.js';
import { type NodeEvent, NodeExecutor, NodeFailure, type NodeWork } from '../node-executor.js';
import {
  InvalidScript,
  MAX_PATTERN,
  MAX_SLEEP_MS,
  MEDIA_TYPE,
  MOST_ENTRIES,
  parseScript,
  scriptProblems,
} from './parse-script.js';
import type { Script, ScriptCondition, ScriptStep } from './script.js';

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
    url: textSchema('URL of a file.'),
    data: { description: 'Any JSON value.' },
  },
  { oneOf: ['text', 'raw', 'url', 'data'].map((content) => ({ properties: { [content]: {} }, required: [content] })) },
);
const PARTS: JsonObject = { type: 'array', minItems: 1, items: PART, description: 'A2A Parts.' };

const ARTIFACT = objectSchema(
  {
    artifactId: textSchema('Id of the Artifact; chunks of one Artifact share it.'),
    name: textSchema('Name of the Artifact.'),
    description: textSchema('Description of the Artifact.'),
    parts: PARTS,
    append: flagSchema('True if the Parts continue the Artifact of this id.'),
    lastChunk: flagSchema('True if the Parts complete the Artifact.'),
  },
  { required: ['parts'], description: 'Sends an Artifact or a chunk of one.' },
);

/** JSON Schemas of the values of steps, by the key of the step. A step has exactly one key. */
const STEPS: Record<string, JsonObject> = {
  status: { const: 'working', description: 'Reports that the agent is working, optionally with a text.' },
  artifact: ARTIFACT,
  echo: { const: true, description: 'Returns the Parts of the Message as an Artifact.' },
  sleep: { type: 'number', minimum: 0, maximum: MAX_SLEEP_MS, description: 'Waits for this number of milliseconds.' },
  reply: { ...PARTS, description: 'Answers with a Message of these Parts, and no Task.' },
  ask: textSchema('Asks: INPUT_REQUIRED. Ends the turn.'),
  authorize: textSchema('Asks for authentication: AUTH_REQUIRED. Ends the turn.'),
  complete: { anyOf: [{ type: 'string' }, { const: true }, { type: 'null' }], description: 'Ends the Task COMPLETED.' },
  fail: textSchema('Ends the Task FAILED.'),
  reject: textSchema('Ends the Task REJECTED.'),
  throw: { enum: Object.keys(A2A_ERRORS), description: 'Rejects the Message with this protocol error.' },
};
/** Keys of the steps that may have a `text` beside the key. */
const WITH_TEXT = new Set(['status', 'throw']);

const STEP: JsonObject = {
  anyOf: Object.entries(STEPS).map(([key, schema]) =>
    closedSchema(
      { [key]: schema, ...(WITH_TEXT.has(key) && { text: textSchema('Text of the status.') }) },
      { required: [key] },
    ),
  ),
};

const EXTENSION = closedSchema(
  {
    uri: { type: 'string', pattern: '^[^\\s,]{1,500}$', description: 'URI of the extension.' },
    description: textSchema('Use of the extension by the agent.'),
    required: flagSchema('True if callers must support the extension.'),
    params: { type: 'object', description: 'Parameters of the extension.' },
  },
  { required: ['uri'] },
);
const MODE: JsonObject = { type: 'string', pattern: MEDIA_TYPE.source };

const AGENT = closedSchema(
  {
    inputModes: listSchema(MODE, 'Media types that the agent accepts.'),
    outputModes: listSchema(MODE, 'Media types that the agent produces.'),
    streaming: flagSchema('True if the agent streams.'),
    pushNotifications: flagSchema('True if the agent sends push notifications.'),
    extensions: listSchema(EXTENSION, 'Protocol extensions that the agent supports.'),
  },
  { description: "Values of the agent's card that differ from the defaults." },
);

const EXPRESSION: JsonObject = { type: 'string', maxLength: MAX_PATTERN };

const CONDITION = closedSchema(
  {
    messageId: { ...EXPRESSION, description: 'Regular expression (RE2) for the id of the Message.' },
    text: { ...EXPRESSION, description: 'Regular expression (RE2) for the text of the Message.' },
    data: { description: 'Content that the first data Part must include.' },
    turn: { type: 'integer', minimum: 1, description: 'Number of the Message in the Task, from 1.' },
  },
  { description: 'Conditions, all of which must hold.' },
);

const RULE = closedSchema({
  when: CONDITION,
  steps: { type: 'array', items: STEP, description: 'Steps of the agent, in this order.' },
});

/** JSON Schema of a script. `scriptProblems` also checks rules about the whole script. */
const SCRIPT_SCHEMA: JsonObject = closedSchema(
  {
    agent: AGENT,
    rules: { type: 'array', items: RULE, description: 'The first rule that matches the Message runs.' },
    otherwise: { type: 'array', items: STEP, description: 'Steps of the agent if no rule matches.' },
  },
  { description: 'A scripted agent.' },
);

/**
 * True if `value` contains `wanted`: an object needs the members of `wanted`, and may have others; an array needs the
 * same length, and each element must contain the corresponding one; any other value must be equal. The time is limited
 * by the number of values in `wanted`.
 */
export function isContained(wanted: JsonValue, value: JsonValue | undefined): boolean {
  if (isJsonObject(wanted)) {
    if (!isJsonObject(value)) return false;
    for (const name in wanted) {
      if (!Object.hasOwn(value, name) || !isContained(wanted[name]!, value[name])) return false;
    }
    return true;
  }
  if (!Array.isArray(wanted)) return wanted === value;
  if (!Array.isArray(value) || value.length !== wanted.length) return false;
  return wanted.every((it, index) => isContained(it, value[index]));
}

/** Maximum number of characters that rules read of a text. */
const MOST_LOOKED_AT = 65_536;
/** Maximum cost of matching all rules, in characters times instructions, which is the worst case of RE2. */
const MOST_STEPS = 2_000_000;

/**
 * Agent that follows a script (docs/SCRIPTS.md).
 * - After a crash it continues after the last step whose event was recorded.
 * - The same Message gives the same steps and the same Artifact ids.
 * - If the first step for a new Message is `throw`, the Message is rejected and nothing is written. A later `throw`
 *   fails the Task like any other error.
 */
export class ScriptedAgent extends AgentExecutor {
  override readonly recovery = 'restart';
  override readonly declares: AgentDeclaration | undefined;
  readonly #script: Script;
  /** Number of characters at the start of a text that the rules read. */
  readonly #window: number;

  /** Parses the script. @throws InvalidScript */
  constructor(
    script: JsonValue | undefined,
    private readonly limits: ContentLimits = DEFAULT_CONTENT_LIMITS,
  ) {
    super();
    this.#script = parseScript(script, limits);
    this.declares = this.#script.agent;
    this.#window = Math.floor(Math.min(MOST_LOOKED_AT, MOST_STEPS / Math.max(1, this.#script.size)));
  }

  override replyDirectly(message: Message): Message | undefined {
    const [first] = this.#stepsFor(message, 1);
    if (message.taskId !== undefined || first === undefined || !('reply' in first)) return undefined;
    const parts = this.#directReply(first, message);
    if (parts === undefined) return undefined;
    const {
      taskId: _taskId,
      contextId,
      ...direct
    } = agentMessage({ taskId: '', contextId: message.contextId ?? '' }, parts);
    return contextId === '' ? direct : { ...direct, contextId };
  }

  override checkRequest({ message }: SendMessageRequest): void {
    const [first] = this.#stepsFor(message, 1);
    if (message.taskId === undefined && first !== undefined && 'throw' in first)
      throw this.#toProtocolError(first, message);
  }

  override async *execute(context: RequestContext): AsyncIterable<NodeEvent> {
    const { userMessage, recovered, signal } = context;
    const turn = turnOf(context);
    const steps = this.#stepsFor(userMessage, turn);
    let position = 0;
    for (const [index, step] of steps.entries()) {
      if ('sleep' in step) {
        if (position >= recovered) await delay(step.sleep, undefined, { signal });
        continue;
      }
      if ('throw' in step) throw this.#toProtocolError(step, userMessage);
      position += 1;
      if (position > recovered) yield eventOf(context, this.#fillStep(step, userMessage), `step-${turn}-${index + 1}`);
      if (endsTurn(step)) return;
    }
  }

  /** Returns the protocol error of a `throw` step. A text that is too large is omitted. */
  #toProtocolError(step: Extract<ScriptStep, { throw: unknown }>, message: Message): A2AError {
    try {
      return new A2AError(step.throw, { message: this.#fillStep(step, message).text });
    } catch (error) {
      if (error instanceof ContentTooLarge) return new A2AError(step.throw);
      throw error;
    }
  }

  /**
   * Returns the Parts of a direct reply, without a Task; `undefined` if they are too large. In that case a Task is
   * created and fails.
   */
  #directReply(step: Extract<ScriptStep, { reply: unknown }>, message: Message): Part[] | undefined {
    try {
      return this.#fillStep(step, message).reply;
    } catch (error) {
      if (error instanceof ContentTooLarge) return undefined;
      throw error;
    }
  }

  /** Returns the step with `{{text}}` in its texts replaced by the text of the Message. */
  #fillStep<T extends ScriptStep>(step: T, { parts }: Message): T {
    const budget = new TextBudget(this.limits.renderedText);
    return withText(step as unknown as JsonValue, firstText(parts) ?? '', budget) as unknown as T;
  }

  #stepsFor(message: Message, turn: number): readonly ScriptStep[] {
    const text = firstText(message.parts) ?? '';
    const seen = text.length > this.#window ? text.slice(0, this.#window) : text;
    const asked = { messageId: message.messageId, text: seen, data: firstData(message.parts), turn };
    const rule = this.#script.rules.find(({ when }) => matchesCondition(when, asked));
    return rule ? rule.steps : this.#script.otherwise;
  }
}

/** Returns the number of the current Message among the Messages of the user in this Task, from 1. */
function turnOf({ task }: RequestContext): number {
  return 1 + (task?.history ?? []).filter(({ role }) => role === 'ROLE_USER').length;
}

/** Values of a Message that the conditions of rules check. */
interface ConditionSubject {
  messageId: string;
  text: string;
  /** Value of the first data Part; `undefined` if the Message has none. */
  data: JsonValue | undefined;
  turn: number;
}

function matchesCondition(when: ScriptCondition, asked: ConditionSubject): boolean {
  if (when.turn !== undefined && when.turn !== asked.turn) return false;
  if (when.data !== undefined && !isContained(when.data, asked.data)) return false;
  if (when.messageId && !when.messageId.matchesText(asked.messageId)) return false;
  return !when.text || when.text.matchesText(asked.text);
}

function eventOf(context: RequestContext, step: EventStep, artifactId: string): NodeEvent {
  if ('status' in step) return statusUpdate(context, 'TASK_STATE_WORKING', step.text);
  if ('echo' in step) return artifactUpdate(context, { artifactId, parts: context.userMessage.parts });
  if ('artifact' in step) {
    const { append, lastChunk, ...artifact } = step.artifact;
    const options = { ...(append !== undefined && { append }), ...(lastChunk !== undefined && { lastChunk }) };
    return artifactUpdate(context, { artifactId, ...artifact }, options);
  }
  return endingOf(context, step);
}

type EventStep = Exclude<ScriptStep, { throw: unknown }>;

type EndingStep = Exclude<
  ScriptStep,
  { status: unknown } | { echo: unknown } | { artifact: unknown } | { throw: unknown }
>;

function endingOf(context: RequestContext, step: EndingStep): NodeEvent {
  if ('ask' in step) return statusUpdate(context, 'TASK_STATE_INPUT_REQUIRED', step.ask);
  if ('authorize' in step) return statusUpdate(context, 'TASK_STATE_AUTH_REQUIRED', step.authorize);
  if ('fail' in step) return statusUpdate(context, 'TASK_STATE_FAILED', step.fail);
  if ('reject' in step) return statusUpdate(context, 'TASK_STATE_REJECTED', step.reject);
  if ('reply' in step) return statusUpdate(context, 'TASK_STATE_COMPLETED', step.reply);
  const words =
    'complete' in step && typeof step.complete === 'string' && step.complete !== '' ? step.complete : undefined;
  return statusUpdate(context, 'TASK_STATE_COMPLETED', words);
}

function endsTurn(step: ScriptStep): boolean {
  return !('status' in step || 'artifact' in step || 'echo' in step || 'sleep' in step);
}

/** Node type `script`: an agent that follows a script. */
export class ScriptNode implements NodeType {
  readonly name = 'script';
  readonly configSchema = configSchema(
    {
      script: SCRIPT_SCHEMA,
      prompt: { description: 'Message to the node. May contain {{references}}.' },
      data: DATA,
    },
    ['script'],
  );

  constructor(private readonly limits: ContentLimits = DEFAULT_CONTENT_LIMITS) {}

  findProblems(node: NodeSpec, use?: SharedUse): NodeProblem[] {
    const problems = scriptProblems(node.config.script, this.limits, use);
    return problems.map((problem) => ({ path: 'config.script', detail: `script node "${node.id}": ${problem}` }));
  }

  createExecutor(node: NodeSpec): AgentExecutor {
    try {
      return new ScriptedAgent(node.config.script, this.limits);
    } catch (error) {
      if (error instanceof InvalidScript) return new UnusableScript(node, error.message);
      throw error;
    }
  }
}

/** Executor for a script that was valid when it was saved, but is invalid under today's rules. It fails the Task. */
class UnusableScript extends NodeExecutor {
  override readonly recovery = 'restart';

  constructor(
    node: NodeSpec,
    private readonly problem: string,
  ) {
    super(node);
  }

  // oxlint-disable-next-line require-yield -- there is nothing to do but to fail
  protected override async *performWork(): NodeWork {
    throw new NodeFailure(`the script cannot be used: ${this.problem}`);
  }
}
