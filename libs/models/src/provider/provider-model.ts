import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamResult } from '@ai-sdk/provider';
import type { OwnFiles } from '#libs/files';
import type { OutboundFetch } from '#libs/http-client';
import {
  type AnswerPlace,
  type ContentPlace,
  type ContentRoom,
  DEFAULT_CONTENT_LIMITS,
  type ReceivedAnswers,
} from '#libs/service';
import { inputModes, type ModelProvider, type ModelSettings, PROVIDER_OPTIONS } from '../model-definition.js';
import type { ModelPrice } from '../model-price.js';
import {
  MAX_ANSWER_BYTES,
  type Model,
  type ModelCall,
  ModelError,
  type ModelEvent,
  type ModelUsage,
  type ToolCallForm,
} from '../model.js';
import { AnswerEvents } from './answer-events.js';
import {
  fittingEvents,
  repairedStreams,
  shortErrors,
  streamingWholeAnswers,
  withoutNullContent,
} from './answer-streams.js';
import { withCommonErrors } from './error-forms.js';
import { filesFor, type FileSources } from './model-files.js';
import type { ModelSigner } from './model-signer.js';
import { asJson, promptOf, type ReadFile } from './prompt.js';
import { modelFailure, refusesFormat } from './provider-failure.js';
import { type AnswerWatch, boundedFetch, SignedFetch } from './provider-fetch.js';
import type { FormatRequest, RefusedFormats } from './refused-formats.js';
import { readSchemaAnswer, withSchemaTools } from './schema-tools.js';
import { estimateUsage } from './usage-estimate.js';

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
  /** Response formats that endpoints have refused, for all calls of this process; absent: none is remembered. */
  refusedFormats?: RefusedFormats | undefined;
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
  readonly toolCalls: ToolCallForm | undefined;

  constructor(private readonly options: ProviderModelOptions) {
    this.name = options.name;
    this.provider = options.provider;
    this.providerModel = options.model;
    this.inputModes = inputModes(options.input);
    this.toolCalls = options.defaults?.toolCalls;
  }

  async *streamAnswer(call: ModelCall): AsyncIterable<ModelEvent> {
    const isBySchema = this.toolCalls === 'schema' && (call.tools?.length ?? 0) > 0;
    if (!isBySchema) return yield* this.#streamAsAsked(call);
    yield* readSchemaAnswer(this.#streamAsAsked(withSchemaTools(call)), this.options.jsonMembers);
  }

  async *#streamAsAsked(call: ModelCall): AsyncIterable<ModelEvent> {
    call.signal.throwIfAborted();
    const lost = new AbortController();
    const signal = AbortSignal.any([call.signal, lost.signal]);
    const { http, signer, defaults } = this.options;
    const wire = new SignedFetch(http, signer, signal, defaults?.waitSeconds);
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

  estimateUsage(call: ModelCall): ModelUsage {
    return estimateUsage(call, call.maxTokens ?? this.options.defaults?.maxTokens, this.options.price);
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
    const { provider, price, defaults } = this.options;
    // Anthropic requires a limit: without one, its package sets the limit that it knows for the model.
    const unset = provider === 'anthropic' ? 0 : undefined;
    const events = new AnswerEvents(provider, this.name, price, call.maxTokens ?? defaults?.maxTokens ?? unset);
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
   * request is repeated once without it, as the prompt has the schema too. Later requests omit a format that this
   * endpoint has rejected (RefusedFormats).
   */
  async #requestStream(
    call: ModelCall,
    model: LanguageModelV4,
    place: ContentPlace | undefined,
  ): Promise<LanguageModelV4StreamResult> {
    const read = filesFor(model, this.inputModes, this.#sourcesOf(call, place));
    const asked = await this.#optionsOf(call, read);
    const format = this.#formatOf(call, asked);
    if (format === undefined) return model.doStream(asked);
    const { refusedFormats } = this.options;
    const inWords = { ...asked, responseFormat: undefined };
    if (refusedFormats?.has(format)) return model.doStream(inWords);
    try {
      return await model.doStream(asked);
    } catch (error) {
      if (!refusesFormat(error, format.hasTools)) throw error;
      const answer = await model.doStream(inWords);
      refusedFormats?.add(format);
      return answer;
    }
  }

  #formatOf({ output, reader }: ModelCall, asked: LanguageModelV4CallOptions): FormatRequest | undefined {
    if (asked.responseFormat === undefined || output === undefined) return undefined;
    const { baseUrl, model } = this.options;
    const hasTools = asked.tools !== undefined;
    return { tenant: (reader ?? NOBODY).tenant, baseUrl, model, schema: output, hasTools };
  }

  async #optionsOf(call: ModelCall, read: ReadFile): Promise<LanguageModelV4CallOptions> {
    const { messages, tools = [], output, isOutputDescribed, headers } = call;
    const { temperature, topP, stop, maxTokens } = { ...this.options.defaults, ...settingsOf(call) };
    // Providers of this kind keep the tools of a conversation, and permit an answer by a schema if none is called.
    const isAnswerOnly = call.isAnswerOnly === true && tools.length > 0 && this.options.provider.startsWith('openai');
    const said = output === undefined || isOutputDescribed ? messages : [...messages, asJson(output)];
    return {
      prompt: await promptOf(said, this.options.provider, read),
      ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: 'function' as const, ...tool })) }),
      ...(isAnswerOnly && { toolChoice: { type: 'none' as const } }),
      ...(temperature !== undefined && { temperature }),
      ...(topP !== undefined && { topP }),
      // They would end JSON in the middle of a text.
      ...(stop !== undefined && output === undefined && { stopSequences: [...stop] }),
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
    return withoutNullContent(
      repairedStreams(fittingEvents(streamingWholeAnswers(withCommonErrors(bounded), jsonMembers), jsonMembers)),
    );
  }
}

/** Returns the settings that a call itself sets. */
function settingsOf({ temperature, topP, stop, maxTokens }: ModelCall): Partial<ModelCall> {
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(stop !== undefined && { stop }),
    ...(maxTokens !== undefined && { maxTokens }),
  };
}

/** Returns the number of characters of an event that stay in memory until the answer ends. */
function sizeOf(event: ModelEvent): number {
  if ('text' in event) return event.text.length;
  return 'end' in event ? 0 : JSON.stringify(event).length;
}
