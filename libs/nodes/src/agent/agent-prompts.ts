import type { RequestContext } from '#libs/agents';
import { type Model, type ModelCall, type ModelEnd, type ModelToolCall, requestedPrompt } from '#libs/models';
import type { JsonValue, Part } from '#libs/protocol';
import type { PromptNote } from '#libs/tasks';
import type { NodeEvent } from '../node-executor.js';

/** Answer of a model in the form in which the provider sent it. It is stored or exported with the prompt. */
interface PromptedAnswer {
  end: ModelEnd;
  parts: readonly Part[];
  /** Requested tool calls, with the tool names that were sent to the model (wire names). */
  toolCalls: readonly ModelToolCall[];
  note?: string;
}

/**
 * Adds the content of one model call (request and answer) to the events of the call, if the prompts of the Task are
 * stored or exported.
 */
export class PromptedCall {
  private sent: { model: string; at: number; secrets: readonly string[] } | undefined;

  constructor(
    private readonly context: Pick<RequestContext, 'prompts' | 'signal'>,
    private readonly step: number,
  ) {}

  /** Returns the request event with the content that is sent to the model. */
  async attachRequest(event: NodeEvent, model: Model, call: ModelCall): Promise<NodeEvent> {
    const { prompts, signal } = this.context;
    if (!prompts) return event;
    await prompts.loadEarlier();
    const secrets = (await model.readSecrets?.(signal)) ?? [];
    this.sent = { model: model.name, at: performance.now(), secrets };
    const { provider, providerModel } = model;
    const { messages, tools, ...request } = requestedPrompt(model, call);
    return withNote(
      event,
      prompts.describeSent(
        {
          step: this.step,
          model: model.name,
          ...(provider !== undefined && { provider }),
          ...(providerModel !== undefined && { providerModel }),
          ...request,
          messages: messages as unknown as JsonValue[],
          ...(tools && { tools: tools as unknown as JsonValue[] }),
        },
        secrets,
      ),
    );
  }

  /** Returns the answer event with the answer as the provider sent it. */
  attachAnswer(event: NodeEvent, { end, parts, toolCalls, note }: PromptedAnswer): NodeEvent {
    const message = {
      role: 'assistant',
      parts: [...parts],
      ...(toolCalls.length > 0 && { toolCalls: [...toolCalls] }),
      ...(end.kept !== undefined && { kept: end.kept }),
    } as unknown as JsonValue;
    return this.attachOutcome(event, {
      message,
      reason: end.reason,
      ...(end.usage && { usage: { ...end.usage } }),
      ...(note !== undefined && { note }),
    });
  }

  /**
   * Returns the failure event with the text of the error. Returns `event` unchanged if no request was sent to the
   * model.
   */
  attachError(event: NodeEvent, error: string): NodeEvent {
    return this.attachOutcome(event, { error });
  }

  private attachOutcome(event: NodeEvent, outcome: PromptedOutcome): NodeEvent {
    const { sent, step } = this;
    const { prompts } = this.context;
    if (!sent || !prompts) return event;
    const ms = Math.round(performance.now() - sent.at);
    return withNote(event, prompts.describeReceived({ step, model: sent.model, ms, ...outcome }, sent.secrets));
  }
}

type PromptedOutcome = Omit<
  Parameters<NonNullable<RequestContext['prompts']>['describeReceived']>[0],
  'step' | 'model' | 'ms'
>;

function withNote(event: NodeEvent, prompt: PromptNote | undefined): NodeEvent {
  return prompt && 'statusUpdate' in event ? { ...event, prompt } : event;
}
