import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  LanguageModelV4ToolCall,
} from '@ai-sdk/provider';
import type { OwnFiles } from '#libs/files';
import type { OutboundFetch } from '#libs/http-client';
import { isJsonObject, type JsonValue, tryParseJson } from '#libs/protocol';
import {
  type AnswerPlace,
  type ContentPlace,
  type ContentRoom,
  DEFAULT_CONTENT_LIMITS,
  type ReceivedAnswers,
} from '#libs/service';
import { inputModes, type ModelProvider, type ModelSettings, PROVIDER_OPTIONS } from '../model-definition.js';
import {
  type Model,
  type ModelCall,
  type ModelEnd,
  ModelError,
  type ModelEvent,
  type ModelOutage,
  type ModelToolCall,
} from '../model.js';
import {
  DONE_REASON,
  fittingEvents,
  repairedStreams,
  shortErrors,
  streamingWholeAnswers,
  withoutNullContent,
} from './answer-streams.js';
import { type ModelPrice, usageOf } from '../model-price.js';
import { filesFor, type FileSources } from './model-files.js';
import type { ModelSigner } from './model-signer.js';
import { asJson, promptOf, type ReadFile } from './prompt.js';
import { modelFailure, refusesFormat } from './provider-failure.js';
import { type AnswerWatch, boundedFetch, MAX_ANSWER_BYTES, SignedFetch } from './provider-fetch.js';

type AnswerContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'];
type Growing = Extract<AnswerContent[number], { type: 'text' | 'reasoning' }>;
type Metadata = LanguageModelV4ToolCall['providerMetadata'];
type Finish = Extract<LanguageModelV4StreamPart, { type: 'finish' }>;

/** Converts the stream of one answer to model events, part by part. */
class AnswerEvents {
  /** Content of the answer so far, in the form that its provider wants back. */
  private readonly content: AnswerContent = [];
  private readonly open = new Map<string, Growing>();
  private finish: Finish | undefined;

  constructor(
    private readonly provider: ModelProvider,
    private readonly model: string,
    private readonly price: ModelPrice | undefined,
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
        this.finish = part;
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
      const { said, ...options } = lackOf(finish?.finishReason);
      throw new ModelError(`model "${this.model}" gave no answer: its answer ${said}`, { ...options, usage });
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
function lackOf(reason: LanguageModelV4FinishReason | undefined): AnswerLack {
  switch (reason?.unified) {
    case 'length':
      return { said: 'was cut at its token limit', fallback: true, isTruncated: true };
    case 'content-filter':
      return { said: 'was withheld', fallback: false };
    default: {
      // Without any word about its end, the stream was cut on its way.
      const wasCut = reason?.raw === undefined;
      return { said: 'ended in the middle', fallback: true, ...(wasCut && { outage: 'connect' as const }) };
    }
  }
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

/**
 * Placeholder that stops provider packages from reading a key from the environment. The real credential is added when
 * the request is sent.
 */
const NO_KEY = 'none';

type Make = (settings: ModelSettings, send: typeof fetch) => Promise<LanguageModelV4>;

/**
 * Creates the model of a provider package, by provider. A package is imported with the first call of its provider, so
 * that a replica that does not use it starts sooner.
 */
const MAKERS: Readonly<Record<ModelProvider, Make>> = {
  'openai-compatible': async ({ baseUrl, model }, send) => {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const options = { name: 'endpoint', includeUsage: true, supportsStructuredOutputs: true };
    return createOpenAICompatible({ ...options, baseURL: baseUrl, fetch: send }).chatModel(model);
  },
  openai: async ({ baseUrl, model }, send) => {
    const { createOpenAI } = await import('@ai-sdk/openai');
    return createOpenAI({ baseURL: baseUrl, apiKey: NO_KEY, fetch: send })(model);
  },
  anthropic: async ({ baseUrl, model }, send) => {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return createAnthropic({ baseURL: baseUrl, apiKey: NO_KEY, fetch: send })(model);
  },
  google: async ({ baseUrl, model }, send) => {
    const { createGoogle } = await import('@ai-sdk/google');
    return createGoogle({ baseURL: baseUrl, apiKey: NO_KEY, fetch: send })(model);
  },
};

/**
 * Creates the model of the provider package.
 * @throws ModelError if the package is not installed
 */
export async function languageModel(
  settings: ModelSettings,
  send: typeof fetch,
  makers = MAKERS,
): Promise<LanguageModelV4> {
  const { provider } = settings;
  try {
    return await makers[provider](settings, send);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new ModelError(`models of ${provider} need the package @ai-sdk/${provider}, which is not installed here`, {
      cause: error,
    });
  }
}

export interface ProviderModelOptions extends ModelSettings {
  /** Name of the model in nodes. */
  name: string;
  /** Price of the model's tokens; absent: the cost of its calls is unknown. */
  price?: ModelPrice | undefined;
  signer: ModelSigner;
  /** Sends requests to the provider. */
  http: OutboundFetch;
  /** Fetches files for the model, under the guard of outbound calls. */
  files: OutboundFetch;
  /** Memory that the answers of all calls share; absent: calls do not wait for memory. */
  room?: ReceivedAnswers | undefined;
  /**
   * Maximum number of members and elements in one JSON text of an answer; absent: the default of `JSON_MEMBERS_LIMIT`.
   */
  jsonMembers?: number | undefined;
  /** Files of this service; absent in a process that stores none. */
  ownFiles?: Pick<OwnFiles, 'readContent'> | undefined;
  /** Maximum number of base64 characters of the files of one call; absent: the default of `ARTIFACT_LIMIT`. */
  fileLimit?: number | undefined;
  /** Memory that the files of all calls share; absent: calls do not wait for memory. */
  fileRoom?: ContentRoom | undefined;
}

/** Accounts of the memory that one call holds. */
interface CallMemory {
  answer: AnswerPlace | undefined;
  files: ContentPlace | undefined;
}

/** Owner to whom the memory of calls without `ModelCall.reader` is charged. */
const NOBODY = { tenant: '', owner: '' };

/** Model of a provider, called through the provider package of the AI SDK. */
export class ProviderModel implements Model {
  readonly name: string;
  readonly inputModes: readonly string[];
  readonly provider: string;
  readonly providerModel: string;

  constructor(private readonly options: ProviderModelOptions) {
    this.name = options.name;
    this.provider = options.provider;
    this.providerModel = options.model;
    this.inputModes = inputModes(options.input);
  }

  async *streamAnswer(call: ModelCall): AsyncIterable<ModelEvent> {
    call.signal.throwIfAborted();
    const lost = new AbortController();
    const signal = AbortSignal.any([call.signal, lost.signal]);
    const wire = new SignedFetch(this.options.http, this.options.signer, signal);
    const whose = call.reader ?? NOBODY;
    using place = this.options.room?.openPlace(whose, { onEvicted: (error) => lost.abort(error) });
    using files = this.options.fileRoom?.openPlace(whose);
    try {
      const model = await languageModel(this.options, this.#wireFetch(wire, { place, signal }));
      const events = this.#streamEvents({ ...call, signal }, model, { answer: place, files });
      yield* place ? place.yieldConsumed(events) : events;
    } catch (error) {
      call.signal.throwIfAborted();
      const failure = modelFailure(lost.signal.reason ?? error, { model: this.name, secrets: wire.secrets });
      if (failure?.status === 401 || failure?.status === 403) wire.noteRefusal(failure.message);
      throw failure ?? error;
    }
  }

  async readSecrets(signal: AbortSignal): Promise<readonly string[]> {
    const { baseUrl, signer } = this.options;
    if (!URL.canParse(baseUrl)) return [];
    // An unusable credential fails the call itself, with the reason.
    const auth = await signer.createAuth(new URL(baseUrl), signal).catch(() => undefined);
    return auth?.secrets ?? [];
  }

  async *#streamEvents(call: ModelCall, model: LanguageModelV4, memory: CallMemory): AsyncIterable<ModelEvent> {
    const { stream } = await this.#requestStream(call, model, memory.files);
    const events = new AnswerEvents(this.options.provider, this.name, this.options.price);
    // Returning early cancels the stream and its request.
    let kept = 0;
    for await (const part of stream) {
      for (const event of events.readPart(part)) {
        kept += sizeOf(event);
        yield event;
        memory.answer?.setKept(kept);
        memory.answer?.setPending(0);
      }
    }
    yield { end: events.endAnswer() };
  }

  /**
   * Requests the stream of the answer. If the endpoint rejects the response format, or may reject it beside tools, the
   * request is repeated once without it, as the prompt has the schema too.
   */
  async #requestStream(
    call: ModelCall,
    model: LanguageModelV4,
    place: ContentPlace | undefined,
  ): Promise<LanguageModelV4StreamResult> {
    const read = filesFor(model, this.inputModes, this.#sourcesOf(call, place));
    const asked = await this.#optionsOf(call, read);
    try {
      return await model.doStream(asked);
    } catch (error) {
      if (asked.responseFormat === undefined || !refusesFormat(error, asked.tools !== undefined)) throw error;
      return model.doStream({ ...asked, responseFormat: undefined });
    }
  }

  async #optionsOf(call: ModelCall, read: ReadFile): Promise<LanguageModelV4CallOptions> {
    const { messages, tools = [], temperature, topP, stop, maxTokens, output, isOutputDescribed, headers } = call;
    // Providers of this kind keep the tools of a conversation, and permit an answer by a schema if none is called.
    const isAnswerOnly = call.isAnswerOnly === true && tools.length > 0 && this.options.provider.startsWith('openai');
    const said = output === undefined || isOutputDescribed ? messages : [...messages, asJson(output)];
    return {
      prompt: await promptOf(said, this.options.provider, read),
      ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: 'function' as const, ...tool })) }),
      ...(isAnswerOnly && { toolChoice: { type: 'none' as const } }),
      ...(temperature !== undefined && { temperature }),
      ...(topP !== undefined && { topP }),
      ...(stop !== undefined && { stopSequences: [...stop] }),
      ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
      // Many models cannot both call tools and be restricted to JSON.
      ...(output !== undefined &&
        (tools.length === 0 || isAnswerOnly) && {
          responseFormat: { type: 'json' as const, name: 'answer', schema: output },
        }),
      ...(headers !== undefined && { headers: { ...headers } }),
      providerOptions: PROVIDER_OPTIONS,
      abortSignal: call.signal,
    };
  }

  #sourcesOf({ reader, signal }: ModelCall, place: ContentPlace | undefined): FileSources {
    const { files: send, ownFiles, fileLimit: limit = DEFAULT_CONTENT_LIMITS.artifact } = this.options;
    const readOwn: FileSources['readOwn'] =
      reader && ownFiles && ((url, admit) => ownFiles.readContent(url, reader, admit, signal));
    return { send, readOwn, limit, place, signal };
  }

  #wireFetch(wire: SignedFetch, watch: AnswerWatch): typeof fetch {
    const { provider, jsonMembers = DEFAULT_CONTENT_LIMITS.jsonMembers } = this.options;
    const bounded = boundedFetch(shortErrors(wire.fetchSigned, jsonMembers), MAX_ANSWER_BYTES, watch);
    if (provider !== 'openai-compatible') return fittingEvents(bounded, jsonMembers);
    return withoutNullContent(repairedStreams(fittingEvents(streamingWholeAnswers(bounded, jsonMembers), jsonMembers)));
  }
}

/** Returns the number of characters of an event that stay in memory until the answer ends. */
function sizeOf(event: ModelEvent): number {
  if ('text' in event) return event.text.length;
  return 'end' in event ? 0 : JSON.stringify(event).length;
}
