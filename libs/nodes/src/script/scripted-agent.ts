import { setTimeout as delay } from 'node:timers/promises';
import { type AgentDeclaration, AgentExecutor, type RequestContext } from '#libs/executor';
import {
  A2AError,
  agentMessage,
  artifactUpdate,
  ContentTooLarge,
  firstData,
  firstText,
  type JsonValue,
  type Message,
  type Part,
  type SendMessageRequest,
  statusUpdate,
  TextBudget,
} from '#libs/protocol';
import { type ContentLimits, DEFAULT_CONTENT_LIMITS } from '#libs/service';
import type { NodeEvent } from '../node-executor.js';
import { withText } from '../text-placeholder.js';
import { isContained } from './contained.js';
import { parseScript } from './parse-script.js';
import type { Script, ScriptCondition, ScriptStep } from './script.js';

/** Maximum characters of a text that rules look at. */
const MOST_LOOKED_AT = 65_536;
/** Maximum cost of all rules together, in characters times instructions: RE2's bound in the worst case. */
const MOST_STEPS = 2_000_000;

/**
 * Agent that follows a script (contract, "Scripted agent").
 * - After a crash it continues after the last step whose event was recorded.
 * - The same Message gives the same steps and the same Artifact ids.
 * - An error as the first step for a new Message rejects it, and nothing is written. A later error fails the Task like
 *   any other error.
 */
export class ScriptedAgent extends AgentExecutor {
  override readonly recovery = 'restart';
  override readonly declares: AgentDeclaration | undefined;
  readonly #script: Script;
  /** Number of a text's characters that the rules look at. */
  readonly #window: number;

  /** @throws InvalidScript */
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

  /** Returns the protocol error of a step. A text that is too large is omitted. */
  #toProtocolError(step: Extract<ScriptStep, { throw: unknown }>, message: Message): A2AError {
    try {
      return new A2AError(step.throw, { message: this.#fillStep(step, message).text });
    } catch (error) {
      if (error instanceof ContentTooLarge) return new A2AError(step.throw);
      throw error;
    }
  }

  /** Returns the Parts of a direct reply. If they are too large, a Task is created instead, and fails. */
  #directReply(step: Extract<ScriptStep, { reply: unknown }>, message: Message): Part[] | undefined {
    try {
      return this.#fillStep(step, message).reply;
    } catch (error) {
      if (error instanceof ContentTooLarge) return undefined;
      throw error;
    }
  }

  /** Returns the step with the incoming text filled in. */
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

/** Returns the number of the user's current Message in this Task, from 1. */
function turnOf({ task }: RequestContext): number {
  return 1 + (task?.history ?? []).filter(({ role }) => role === 'ROLE_USER').length;
}

/** Values that conditions are checked against. */
interface ConditionSubject {
  messageId: string;
  text: string;
  /** First data Part; `undefined` if the Message has none. */
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
