import type {
  LanguageModelV4FinishReason,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
} from '@ai-sdk/provider';
import { isJsonObject, type JsonValue, tryParseJson } from '#libs/protocol';
import type { ModelEnd, ModelEvent, ModelUsage, ModelToolCall } from './model.js';
import { ModelError } from './model-error.js';
import type { ModelProvider } from './model-settings.js';
import { DONE_REASON } from './repaired-streams.js';

type AnswerContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'];
type Growing = Extract<AnswerContent[number], { type: 'text' | 'reasoning' }>;
type Metadata = LanguageModelV4ToolCall['providerMetadata'];
type Finish = Extract<LanguageModelV4StreamPart, { type: 'finish' }>;

/** Converts one answer to model events, piece by piece. */
export class AnswerEvents {
  /** Answer so far, in the form that its provider wants back. */
  private readonly content: AnswerContent = [];
  private readonly open = new Map<string, Growing>();
  private finish: Finish | undefined;

  constructor(
    private readonly provider: ModelProvider,
    private readonly model: string,
  ) {}

  /** Yields the events of a piece. @throws the error that the provider reports in the stream */
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
        this.finish = part;
        return;
      default:
      // Calls arrive whole as well; sources and the like are no part of an answer here.
    }
  }

  /** Ends the answer. @throws ModelError if it was truncated before its end, or withheld */
  endAnswer(): ModelEnd {
    const { finish } = this;
    const reason = finish && wholeBecause(finish.finishReason, this.provider);
    if (reason === undefined) {
      const { said, ...options } = lackOf(finish?.finishReason);
      throw new ModelError(`model "${this.model}" gave no answer: its answer ${said}`, options);
    }
    const usage = usageOf(finish!);
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
   * Returns reasoning and signatures for later calls; `undefined` unless the answer calls tools and has such content.
   */
  #keptContent(): JsonValue | undefined {
    const called = this.content.some(({ type }) => type === 'tool-call');
    const more = this.content.some((it) => it.type === 'reasoning' || it.providerOptions !== undefined);
    if (!called || !more) return undefined;
    const content = this.content.filter((it) => it.type !== 'text' || it.text !== '');
    return JSON.parse(JSON.stringify({ provider: this.provider, content })) as JsonValue;
  }
}

/** Returns why an answer ended, if it is whole; `undefined` if it is not. */
function wholeBecause(
  { unified, raw }: LanguageModelV4FinishReason,
  provider: ModelProvider,
): ModelEnd['reason'] | undefined {
  if (unified === 'tool-calls') return unified;
  // Anthropic would continue this answer on request.
  if (unified === 'stop') return raw === 'pause_turn' ? undefined : unified;
  // Compatible endpoints have their own words for a good end; without any word, no end was seen.
  const ownWord = unified === 'other' && raw !== undefined && provider === 'openai-compatible';
  return ownWord ? unified : undefined;
}

/** Describes an answer that is not whole. Withheld content is a refusal by the provider: no other model is asked. */
function lackOf(reason: LanguageModelV4FinishReason | undefined): { said: string; fallback: boolean } {
  switch (reason?.unified) {
    case 'length':
      return { said: 'was cut at its token limit', fallback: true };
    case 'content-filter':
      return { said: 'was withheld', fallback: false };
    default:
      return { said: 'ended in the middle', fallback: true };
  }
}

function usageOf({ usage }: Finish): ModelUsage | undefined {
  const { inputTokens, outputTokens } = usage;
  if (inputTokens.total === undefined && outputTokens.total === undefined) return undefined;
  return { inputTokens: inputTokens.total ?? 0, outputTokens: outputTokens.total ?? 0 };
}

/** Maximum nesting depth of a tool's arguments; deeper values overflow recursive code. */
const DEEPEST_ARGUMENTS = 500;

/** Parses the arguments of a tool. Providers may leave them empty if there are none. */
function parseArguments(input: string): JsonValue | undefined {
  if (input.trim() === '') return {};
  return tryParseJson(input, DEEPEST_ARGUMENTS);
}

function toBase64(data: Uint8Array | string): string {
  return typeof data === 'string' ? data : Buffer.from(data).toString('base64');
}
