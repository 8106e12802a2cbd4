import type {
  LanguageModelV4FinishReason,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
} from '@ai-sdk/provider';
import { isJsonObject, type JsonValue, tryParseJson } from '#libs/protocol';
import type { ModelProvider } from '../model-definition.js';
import { type ModelPrice, usageOf } from '../model-price.js';
import {
  type ModelEnd,
  ModelError,
  type ModelEvent,
  type ModelOutage,
  type ModelToolCall,
  type ModelUsage,
} from '../model.js';

type AnswerContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'];
type Growing = Extract<AnswerContent[number], { type: 'text' | 'reasoning' }>;
type Metadata = LanguageModelV4ToolCall['providerMetadata'];
type Finish = Extract<LanguageModelV4StreamPart, { type: 'finish' }>;

/** Value of `finish_reason` that `repairedStreams` adds if a text ends with `[DONE]` and without a `finish_reason`. */
export const DONE_REASON = '[DONE]';

/** Converts the stream of one answer to model events, part by part. */
export class AnswerEvents {
  /** Content of the answer so far, in the form that its provider wants back. */
  private readonly content: AnswerContent = [];
  private readonly open = new Map<string, Growing>();
  private finish: Finish | undefined;

  constructor(
    private readonly provider: ModelProvider,
    private readonly model: string,
    private readonly price: ModelPrice | undefined,
    /** Token limit of the call, as in `ModelError.tokenLimit`. */
    private readonly tokenLimit?: number,
  ) {}

  /** Yields the events of a stream part. @throws the error that the provider reports in the stream */
  *readPart(part: LanguageModelV4StreamPart): Iterable<ModelEvent> {
    switch (part.type) {
      case 'error':
        throw part.error;
      case 'text-delta':
        this.#growContent('text', part);
        if (part.delta !== '') yield { text: part.delta };
        return;
      case 'text-start':
      case 'text-end':
        return this.#growContent('text', part);
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return this.#growContent('reasoning', part);
      case 'tool-call':
        if (part.providerExecuted !== true) yield { toolCall: this.#readToolCall(part) };
        return;
      case 'file':
        if (part.data.type !== 'data') return;
        yield { part: { raw: toBase64(part.data.data), mediaType: part.mediaType } };
        return;
      case 'finish':
        this.finish = { ...part, finishReason: knownReason(part.finishReason) };
        return;
      default:
      // The pieces of a tool call are ignored, as each call also arrives whole. Sources and similar parts do not belong
      // to an answer.
    }
  }

  /** Returns the end of the answer. @throws ModelError if the answer was truncated, broke off, or was withheld */
  endAnswer(): ModelEnd {
    const { finish } = this;
    const usage = finish && usageOf(finish.usage, this.price);
    const reason = finish && wholeBecause(finish.finishReason, this.provider);
    if (reason === undefined) {
      const { said, ...options } = lackOf(finish?.finishReason, usage);
      throw new ModelError(`model "${this.model}" gave no answer: its answer ${said}`, {
        ...options,
        usage,
        tokenLimit: this.tokenLimit,
      });
    }
    const kept = this.#keptContent();
    const isUnexplained = finish!.finishReason.raw === DONE_REASON;
    const note = isUnexplained ? { note: 'its answer ended with [DONE] and without a finish_reason' } : {};
    return { reason, ...(usage && { usage }), ...(kept !== undefined && { kept }), ...note };
  }

  #growContent(
    type: 'text' | 'reasoning',
    { id, ...more }: { id: string; delta?: string; providerMetadata?: Metadata },
  ): void {
    const key = `${type}/${id}`;
    const piece: Growing = this.open.get(key) ?? { type, text: '' };
    if (!this.open.has(key)) this.content.push(piece);
    this.open.set(key, piece);
    piece.text += more.delta ?? '';
    if (more.providerMetadata !== undefined) piece.providerOptions = more.providerMetadata;
  }

  #readToolCall({ toolCallId: id, toolName: name, input, providerMetadata }: LanguageModelV4ToolCall): ModelToolCall {
    const args = parseArguments(input);
    const given = isJsonObject(args) ? args : {};
    const options = providerMetadata && { providerOptions: providerMetadata };
    this.content.push({ type: 'tool-call', toolCallId: id, toolName: name, input: given, ...options });
    return { id, name, args: given, ...(!isJsonObject(args) && { malformed: input }) };
  }

  /**
   * Returns the whole content of the answer for later calls (`KeptAnswer`); `undefined` unless the answer calls tools
   * and has reasoning or signatures.
   */
  #keptContent(): JsonValue | undefined {
    const called = this.content.some(({ type }) => type === 'tool-call');
    const more = this.content.some((it) => it.type === 'reasoning' || it.providerOptions !== undefined);
    if (!called || !more) return undefined;
    const content = this.content.filter((it) => it.type !== 'text' || it.text !== '');
    return JSON.parse(JSON.stringify({ provider: this.provider, content })) as JsonValue;
  }
}

/** Meaning of reasons that only some compatible endpoints send. An empty reason is none. */
const OWN_REASONS: ReadonlyMap<string | undefined, LanguageModelV4FinishReason> = new Map([
  ['', { unified: 'other', raw: undefined }],
  ['model_length', { unified: 'length', raw: 'model_length' }], // Mistral
  ['insufficient_system_resource', { unified: 'error', raw: 'insufficient_system_resource' }], // DeepSeek
  ['abort', { unified: 'error', raw: 'abort' }], // vLLM and SGLang
  ['error', { unified: 'error', raw: 'error' }], // OpenRouter
]);

function knownReason(reason: LanguageModelV4FinishReason): LanguageModelV4FinishReason {
  return (reason.unified === 'other' && OWN_REASONS.get(reason.raw)) || reason;
}

/** Returns the reason for the end of a whole answer; `undefined` if the answer is not whole. */
function wholeBecause(
  { unified, raw }: LanguageModelV4FinishReason,
  provider: ModelProvider,
): ModelEnd['reason'] | undefined {
  if (unified === 'tool-calls') return unified;
  // Anthropic would continue this answer on request.
  if (unified === 'stop') return raw === 'pause_turn' ? undefined : unified;
  // Some compatible endpoints have their own words for a normal end. Without any word, the end was not seen.
  const ownWord = unified === 'other' && raw !== undefined && provider === 'openai-compatible';
  return ownWord ? unified : undefined;
}

interface AnswerLack {
  said: string;
  fallback: boolean;
  isTruncated?: boolean;
  outage?: ModelOutage;
}

/**
 * Returns why an answer is not whole. `said` is the end of a sentence that begins with `its answer`, such as `was cut
 * at its token limit`. `fallback` is true if the next model of `fallbacks` may answer instead; false if the provider
 * withholds content.
 */
function lackOf(reason: LanguageModelV4FinishReason | undefined, usage: ModelUsage | undefined): AnswerLack {
  switch (reason?.unified) {
    case 'length':
      return { said: `was cut at its token limit${describeFullContext(usage)}`, fallback: true, isTruncated: true };
    case 'content-filter':
      return { said: 'was withheld', fallback: false };
    default: {
      // Without any word about its end, the stream was cut on its way.
      const wasCut = reason?.raw === undefined;
      return { said: 'ended in the middle', fallback: true, ...(wasCut && { outage: 'connect' as const }) };
    }
  }
}

/** States the numbers of tokens if the conversation, and not the answer, takes most of the context. */
function describeFullContext({ inputTokens, outputTokens }: ModelUsage = { inputTokens: 0, outputTokens: 0 }): string {
  return inputTokens > outputTokens ? `, after ${outputTokens} tokens: it was sent ${inputTokens} tokens` : '';
}

/** Maximum nesting depth of the arguments of a tool. Deeper values would overflow recursive code. */
const DEEPEST_ARGUMENTS = 500;

/** Parses the arguments of a tool call; `undefined` if they are not JSON. An empty string stands for no arguments. */
function parseArguments(input: string): JsonValue | undefined {
  if (input.trim() === '') return {};
  return tryParseJson(input, DEEPEST_ARGUMENTS);
}

function toBase64(data: Uint8Array | string): string {
  return typeof data === 'string' ? data : Buffer.from(data).toString('base64');
}
