import type { APIError, OpenAI } from 'openai';
import { briefText, isJsonObject, type Part, textPart } from '#libs/protocol';
import { NodeFailure } from '../node-failure.js';
import { AnswerTooLong, boundedFetch } from './bounded-fetch.js';
import { ECHO_MODEL, EchoLlm } from './echo-llm.js';
import { type LlmAnswer, type LlmMessage, LlmProvider, type LlmRequest } from './llm-provider.js';

const TIMEOUT_MS = 120_000;
/** As many as an agent's answer may have. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

export interface OpenAiLlmOptions {
  baseUrl: string;
  apiKey?: string;
  /** The model of nodes that name none. */
  model?: string;
  fetch: typeof fetch;
}

/** Any OpenAI-compatible endpoint. The model named `echo` stays the built-in one. */
export class OpenAiLlm extends LlmProvider {
  readonly #echo = new EchoLlm();
  readonly #library: Promise<Library>;

  constructor(private readonly options: OpenAiLlmOptions) {
    super();
    this.#library = load(options);
    // Told to whoever wants an answer.
    this.#library.catch(() => undefined);
  }

  override modelFor(model: string | undefined): string {
    return model ?? this.options.model ?? ECHO_MODEL;
  }

  override async answer(request: LlmRequest): Promise<LlmAnswer> {
    const model = this.modelFor(request.model);
    if (model === ECHO_MODEL) return this.#echo.answer(request);
    const { client, Failure } = await this.#library;
    try {
      const messages = request.messages.map(({ role, parts }) => ({ role, content: textOf(parts) }));
      const completion = await client.chat.completions.create({ model, messages }, { signal: request.signal });
      const text = completion.choices[0]?.message.content ?? '';
      const { usage } = completion;
      return { parts: [textPart(text)], ...(usage && { usage: tokensOf(usage) }) };
    } catch (error) {
      request.signal.throwIfAborted();
      if (error instanceof AnswerTooLong) throw new NodeFailure(`model "${model}": ${error.message}`, { cause: error });
      if (!(error instanceof Failure)) throw error;
      const cause = causeOf(error, this.options.apiKey);
      throw new NodeFailure(`model "${model}" gave no answer: ${cause}`, { cause: error });
    }
  }
}

interface Library {
  client: OpenAI;
  Failure: typeof APIError;
}

/** Loaded only where a model is configured: it is some two hundred modules, and a replica starts sooner without them. */
async function load({ baseUrl, apiKey, fetch }: OpenAiLlmOptions): Promise<Library> {
  const { APIError, OpenAI } = await import('openai');
  const client = new OpenAI({
    baseURL: baseUrl,
    apiKey: apiKey ?? 'none',
    organization: null,
    project: null,
    fetch: boundedFetch(fetch, MAX_ANSWER_BYTES),
    timeout: TIMEOUT_MS,
    maxRetries: 2,
    logLevel: 'off',
  });
  return { client, Failure: APIError };
}

/** A model reads text: data goes as JSON, files by their name or address. */
function textOf(parts: LlmMessage['parts']): string {
  return parts.map(partText).join('\n\n');
}

function partText(part: Part): string {
  if (part.text !== undefined) return part.text;
  if (part.url !== undefined) return part.url;
  return part.raw === undefined ? JSON.stringify(part.data ?? null) : `[file ${part.filename ?? ''}]`;
}

function tokensOf(usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number }) {
  const { prompt_tokens, completion_tokens, total_tokens } = usage;
  return { prompt_tokens, completion_tokens, total_tokens };
}

function causeOf({ status, error }: APIError, key: string | undefined): string {
  if (status === undefined) return 'it cannot be reached';
  if (status !== 401) return `HTTP ${status}`;
  const said = isJsonObject(error) && typeof error['message'] === 'string' ? `: ${safe(error['message'], key)}` : '';
  return `the provider refused the key (HTTP 401)${said}`;
}

/** Long words of a provider's message may be the key, or begin like it. */
function safe(message: string, key: string | undefined): string {
  const words = key === undefined ? message : message.replaceAll(key, HIDDEN);
  return briefText(words.replaceAll(/[^\s'"`(),:;]{16,}|\b(?:sk|pk|key)[-_][^\s'"`(),:;]*/gi, HIDDEN));
}

const HIDDEN = '[…]';
