import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamResult } from '@ai-sdk/provider';
import type { OwnFiles } from '#libs/files';
import type { OutboundFetch } from '#libs/outbound';
import {
  type AnswerPlace,
  type ContentPlace,
  type ContentRoom,
  DEFAULT_CONTENT_LIMITS,
  type ReceivedAnswers,
} from '#libs/service';
import { AnswerEvents } from './answer-events.js';
import { type AnswerWatch, boundedFetch, MAX_ANSWER_BYTES } from './bounded-fetch.js';
import { fittingEvents, shortErrors } from './fitting-answers.js';
import type { Model, ModelCall, ModelEvent } from './model.js';
import { type FileSources, filesFor } from './model-files.js';
import type { ModelSigner } from './model-signer.js';
import { inputModes, type ModelSettings, PROVIDER_OPTIONS } from './model-settings.js';
import { asJson, promptOf, type ReadFile } from './prompt.js';
import { modelFailure } from './provider-failure.js';
import { languageModel } from './provider-packages.js';
import { repairedStreams } from './repaired-streams.js';
import { SignedFetch } from './signed-fetch.js';
import { streamingWholeAnswers } from './whole-answers.js';

export interface ProviderModelOptions extends ModelSettings {
  /** Name used by nodes. */
  name: string;
  signer: ModelSigner;
  /** Sends requests to the provider. */
  http: OutboundFetch;
  /** Fetches files for a model, under the same restrictions as other callers. */
  files: OutboundFetch;
  /** Memory for the answers of all calls; absent: calls do not wait for each other. */
  room?: ReceivedAnswers | undefined;
  /** Maximum number of members and elements in one JSON text of an answer; has a default. */
  jsonMembers?: number | undefined;
  /** Files of this service; absent if there are none. */
  ownFiles?: Pick<OwnFiles, 'readContent'> | undefined;
  /** Maximum characters of base64 for the files of one call; absent: the default of ARTIFACT_LIMIT. */
  fileLimit?: number | undefined;
  /** Memory for the files of all calls; absent: calls do not wait for each other. */
  fileRoom?: ContentRoom | undefined;
}

/** Accounts of one call's memory. */
interface CallMemory {
  answer: AnswerPlace | undefined;
  files: ContentPlace | undefined;
}

/** Owner of calls without a `reader`. */
const NOBODY = { tenant: '', owner: '' };

/** Model of a provider, called with the provider's own package. */
export class ProviderModel implements Model {
  readonly name: string;
  readonly inputModes: readonly string[];
  readonly provider: string;

  constructor(private readonly options: ProviderModelOptions) {
    this.name = options.name;
    this.provider = options.provider;
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

  async *#streamEvents(call: ModelCall, model: LanguageModelV4, memory: CallMemory): AsyncIterable<ModelEvent> {
    const { stream } = await this.#requestStream(call, model, memory.files);
    const events = new AnswerEvents(this.options.provider, this.name);
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
   * Starts the stream. If the endpoint rejects the response format, asks again without it; the prompt has the schema.
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
      if (asked.responseFormat === undefined || !refusesFormat(error)) throw error;
      return model.doStream({ ...asked, responseFormat: undefined });
    }
  }

  async #optionsOf(call: ModelCall, read: ReadFile): Promise<LanguageModelV4CallOptions> {
    const { messages, tools = [], temperature, maxTokens, output, isOutputDescribed, headers, signal } = call;
    const said = output === undefined || isOutputDescribed ? messages : [...messages, asJson(output)];
    return {
      prompt: await promptOf(said, this.options.provider, read),
      ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: 'function' as const, ...tool })) }),
      ...(temperature !== undefined && { temperature }),
      ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
      // Many models cannot both call tools and be restricted to JSON.
      ...(output !== undefined &&
        tools.length === 0 && { responseFormat: { type: 'json' as const, name: 'answer', schema: output } }),
      ...(headers !== undefined && { headers: { ...headers } }),
      providerOptions: PROVIDER_OPTIONS,
      abortSignal: signal,
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
    return repairedStreams(fittingEvents(streamingWholeAnswers(bounded, jsonMembers), jsonMembers));
  }
}

/** Returns the characters that stay in memory for an event until the answer ends. */
function sizeOf(event: ModelEvent): number {
  if ('text' in event) return event.text.length;
  return 'end' in event ? 0 : JSON.stringify(event).length;
}

function refusesFormat(error: unknown): boolean {
  const { statusCode, responseBody } = error as { statusCode?: number; responseBody?: string };
  return (statusCode === 400 || statusCode === 422) && /response_?format|json_schema/i.test(responseBody ?? '');
}
