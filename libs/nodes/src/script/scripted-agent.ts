import { setTimeout as delay } from 'node:timers/promises';
import { AgentExecutor, type RequestContext } from '#libs/executor';
import { agentMessage, artifactUpdate, firstText, type JsonValue, type Message, statusUpdate } from '#libs/protocol';
import type { NodeEvent } from '../node-executor.js';
import { withText } from '../text-placeholder.js';
import { parseScript } from './parse-script.js';
import type { Script, ScriptCondition, ScriptStep } from './script.js';

/**
 * An agent that does what its script says and nothing else (contract, "Scripted agent"). After a crash it goes on
 * after the last step whose event was recorded: the same Message gives the same steps, and the same Artifact ids.
 */
export class ScriptedAgent extends AgentExecutor {
  override readonly recovery = 'restart';
  readonly #script: Script;

  /** @throws InvalidScript */
  constructor(script: JsonValue | undefined) {
    super();
    this.#script = parseScript(script);
  }

  override reply(message: Message): Message | undefined {
    const [first] = this.#stepsFor(message, 1);
    if (message.taskId !== undefined || first === undefined || !('reply' in first)) return undefined;
    const { reply: parts } = filled(first, message);
    const {
      taskId: _taskId,
      contextId,
      ...direct
    } = agentMessage({ taskId: '', contextId: message.contextId ?? '' }, parts);
    return contextId === '' ? direct : { ...direct, contextId };
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
      position += 1;
      if (position > recovered) yield eventOf(context, filled(step, userMessage), `step-${turn}-${index + 1}`);
      if (endsTurn(step)) return;
    }
  }

  #stepsFor(message: Message, turn: number): readonly ScriptStep[] {
    const rule = this.#script.rules.find(({ when }) => holds(when, message, turn));
    return rule ? rule.steps : this.#script.otherwise;
  }
}

/** The number of the user's Messages of this Task, the one to work on included. */
function turnOf({ task }: RequestContext): number {
  return 1 + (task?.history ?? []).filter(({ role }) => role === 'ROLE_USER').length;
}

function holds(when: ScriptCondition, { messageId, parts }: Message, turn: number): boolean {
  if (when.turn !== undefined && when.turn !== turn) return false;
  if (when.messageId && !when.messageId.test(messageId)) return false;
  return !when.text || when.text.test(firstText(parts) ?? '');
}

/** The step with the incoming text put in; JSON in, JSON out. */
function filled<T extends ScriptStep>(step: T, { parts }: Message): T {
  return withText(step as unknown as JsonValue, firstText(parts) ?? '') as unknown as T;
}

function eventOf(context: RequestContext, step: ScriptStep, artifactId: string): NodeEvent {
  if ('status' in step) return statusUpdate(context, 'TASK_STATE_WORKING', step.text);
  if ('echo' in step) return artifactUpdate(context, { artifactId, parts: context.userMessage.parts });
  if ('artifact' in step) {
    const { append, lastChunk, ...artifact } = step.artifact;
    const options = { ...(append !== undefined && { append }), ...(lastChunk !== undefined && { lastChunk }) };
    return artifactUpdate(context, { artifactId, ...artifact }, options);
  }
  return endingOf(context, step);
}

type EndingStep = Exclude<ScriptStep, { status: unknown } | { echo: unknown } | { artifact: unknown }>;

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
