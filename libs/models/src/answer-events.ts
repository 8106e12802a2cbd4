import type {
  LanguageModelV4FinishReason,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
} from '@ai-sdk/provider';
import { isJsonObject, type JsonValue } from '#libs/protocol';
import type { ModelEnd, ModelEvent, ModelUsage, ToolCall } from './model.js';
import { ModelError } from './model-error.js';
import type { ModelProvider } from './model-settings.js';

type Content = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'];
type Growing = Extract<Content[number], { type: 'text' | 'reasoning' }>;
type Metadata = LanguageModelV4ToolCall['providerMetadata'];
type Finish = Extract<LanguageModelV4StreamPart, { type: 'finish' }>;

/** Reads one answer, piece by piece. */
export class AnswerEvents {
  /** The answer so far, as its provider wants it back. */
  private readonly content: Content = [];
  private readonly open = new Map<string, Growing>();
  private finish: Finish | undefined;

  constructor(
    private readonly provider: ModelProvider,
    private readonly model: string,
  ) {}

  /** What a piece says. @throws what the provider says went wrong */
  *of(part: LanguageModelV4StreamPart): Iterable<ModelEvent> {
    switch (part.type) {
      case 'error':
        throw part.error;
      case 'text-delta':
        this.#grow('text', part);
        if (part.delta !== '') yield { text: part.delta };
        return;
      case 'text-start':
      case 'text-end':
        return this.#grow('text', part);
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return this.#grow('reasoning', part);
      case 'tool-call':
        if (part.providerExecuted !== true) yield { toolCall: this.#called(part) };
        return;
      case 'file':
        if (part.data.type !== 'data') return;
        yield { part: { raw: base64(part.data.data), mediaType: part.mediaType } };
        return;
      case 'finish':
        this.finish = part;
        return;
      default:
      // What a call is made of comes whole as well; sources and the like are in no answer of ours.
    }
  }

  /** @throws ModelError where the answer was cut before its end */
  end(): ModelEnd {
    const { finish } = this;
    if (finish === undefined || isCut(finish.finishReason)) {
      throw new ModelError(`model "${this.model}" gave no answer: its answer ended in the middle`, { fallback: true });
    }
    const usage = usageOf(finish);
    const kept = this.#kept();
    return {
      reason: reasonOf(finish.finishReason),
      ...(usage && { usage }),
      ...(kept !== undefined && { kept }),
    };
  }

  #grow(
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

  #called({ toolCallId: id, toolName: name, input, providerMetadata }: LanguageModelV4ToolCall): ToolCall {
    const args = parsed(input);
    const given = isJsonObject(args) ? args : {};
    const options = providerMetadata && { providerOptions: providerMetadata };
    this.content.push({ type: 'tool-call', toolCallId: id, toolName: name, input: given, ...options });
    return { id, name, args: given, ...(!isJsonObject(args) && { malformed: input }) };
  }

  /** Thoughts and signatures are wanted back with the calls of tools that came of them, and nowhere else. */
  #kept(): JsonValue | undefined {
    const called = this.content.some(({ type }) => type === 'tool-call');
    const more = this.content.some((it) => it.type === 'reasoning' || it.providerOptions !== undefined);
    if (!called || !more) return undefined;
    const content = this.content.filter((it) => it.type !== 'text' || it.text !== '');
    return JSON.parse(JSON.stringify({ provider: this.provider, content })) as JsonValue;
  }
}

/** A package that saw no end says so, or has no word of the provider for it. */
function isCut({ unified, raw }: LanguageModelV4FinishReason): boolean {
  return unified === 'interrupted' || (raw === undefined && (unified === 'other' || unified === 'error'));
}

function reasonOf({ unified }: LanguageModelV4FinishReason): ModelEnd['reason'] {
  return unified === 'error' || unified === 'interrupted' ? 'other' : unified;
}

function usageOf({ usage }: Finish): ModelUsage | undefined {
  const { inputTokens, outputTokens } = usage;
  if (inputTokens.total === undefined && outputTokens.total === undefined) return undefined;
  return { inputTokens: inputTokens.total ?? 0, outputTokens: outputTokens.total ?? 0 };
}

/** Providers leave the arguments of a tool without any out. */
function parsed(input: string): JsonValue | undefined {
  if (input.trim() === '') return {};
  try {
    return JSON.parse(input) as JsonValue;
  } catch {
    return undefined;
  }
}

function base64(data: Uint8Array | string): string {
  return typeof data === 'string' ? data : Buffer.from(data).toString('base64');
}
