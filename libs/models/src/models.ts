import { Injectable, Optional } from '@nestjs/common';
import { RequestSigners } from '#libs/a2a-client';
import { InputSchema } from '#libs/expressions';
import { OwnFiles } from '#libs/files';
import { OutboundHttp } from '#libs/http-client';
import { hasMoreMembers, tryParseFitJson } from '#libs/http-server';
import {
  firstData,
  joinedText,
  jsonInText,
  type JsonObject,
  type JsonValue,
  type Part,
  withoutHalf,
} from '#libs/protocol';
import { AppConfig, ContentRooms, DEFAULT_CONTENT_LIMITS, Metrics, ReceivedAnswers } from '#libs/service';
import { baseUrlOf, inputModes, MODEL_NAME, type ModelProvider, type StoredModel } from './model-definition.js';
import { ModelStore } from './model-store.js';
import { type Model, type ModelCall, type ModelEnd, ModelError, type ModelEvent, type ModelToolCall } from './model.js';
import { CredentialSigner, FirstUsableSigner, KeySigner, type ModelSigner } from './provider/model-signer.js';
import { ProviderModel, type ProviderModelOptions } from './provider/provider-model.js';
import { RefusedFormats } from './provider/refused-formats.js';

/** Media types of the Parts that a model accepts. */
interface ModelInput {
  /** Media types, as in `Model.inputModes`. */
  modes: readonly string[];
  /** Time when the stored model was last changed; absent if the model cannot change while the process runs. */
  changedAt?: Date;
}

/** Tenant that asks for a model, and options of the lookup. */
export interface WantedModel {
  tenant: string;
  signal?: AbortSignal;
  /**
   * Names of stored credentials that replace the credential of the model. The first one whose hosts include the
   * endpoint of the model is used; if there is none, the call fails.
   */
  credentials?: readonly string[];
}

/**
 * Finds models by name.
 * - ConfiguredModels finds the models of the operator's endpoint (`LLM_*`).
 * - StoredModels also finds the models of `/api/models`.
 */
export abstract class Models {
  /** Model for nodes that name no model. It is known without a lookup. */
  abstract readonly defaultModel: Pick<Model, 'name' | 'inputModes'>;

  /**
   * Finds a model.
   * @param name name of the model; absent: the default model. The name `echo` always selects the built-in model, which
   * repeats its input.
   * @throws ModelError if there is no model of this name
   */
  abstract findModel(name: string | undefined, of: WantedModel): Promise<Model>;

  /** Returns the origin (scheme, host, port) that receives the calls to a model; `undefined` for the built-in model. */
  abstract findOrigin(name: string | undefined, of: Pick<WantedModel, 'tenant'>): Promise<string | undefined>;

  /** Returns the media types that a model accepts now. Rejects, without retries, if the database is unreachable. */
  abstract findInput(name: string, of: { tenant: string }): Promise<ModelInput>;

  /** True if calls find a model of this name, which may be the built-in model. */
  isUsable(_name: string, _use: ModelUse): Promise<boolean> {
    return Promise.resolve(true);
  }
}

/** Workflow that names a model, while the workflow is checked before it is saved. */
interface ModelUse {
  tenant: string;
  /** True if models of other names are saved together with the workflow. */
  hasOthers?: boolean;
}

/** Name that always selects the built-in model. */
export const ECHO_MODEL = 'echo';

/**
 * Built-in model, which answers with the Parts of the last message and uses no tokens. It is used if no other model is
 * configured.
 */
class EchoModel implements Model {
  readonly name = ECHO_MODEL;
  readonly inputModes = ['text/plain', 'application/json'];

  async *streamAnswer({ messages, signal }: ModelCall): AsyncIterable<ModelEvent> {
    signal.throwIfAborted();
    const last = messages.at(-1);
    for (const part of last !== undefined && 'parts' in last ? last.parts : []) yield { part };
    yield { end: { reason: 'stop', usage: { inputTokens: 0, outputTokens: 0 } } };
  }
}

const MOST_NAMES = 200;

/**
 * Counts the tokens and failures of models, for the metrics `parley_model_*`. After the first 200 names in a process,
 * further models are counted as `other`.
 */
export class ModelCounts {
  private readonly names = new Set<string>();
  private readonly tokens;
  private readonly errors;

  constructor(metrics: Metrics) {
    this.tokens = metrics.counter('parley_model_tokens_total', 'Tokens of model calls of this replica', [
      'model',
      'direction',
    ]);
    this.errors = metrics.counter('parley_model_errors_total', 'Model calls of this replica that failed', ['model']);
  }

  /** Returns a model that counts the tokens of the calls of `inner`, and their failures unless `countsErrors` is false. */
  countModel(inner: Model, { countsErrors = true }: { countsErrors?: boolean } = {}): Model {
    const { name, inputModes, provider, providerModel, toolCalls } = inner;
    return {
      name,
      inputModes,
      ...(provider && { provider }),
      ...(providerModel !== undefined && { providerModel }),
      ...(toolCalls !== undefined && { toolCalls }),
      streamAnswer: (call) => this.streamCounted(inner, call, countsErrors),
      ...(inner.estimateUsage && { estimateUsage: (call) => inner.estimateUsage!(call) }),
      ...(inner.readSecrets && { readSecrets: (signal) => inner.readSecrets!(signal) }),
    };
  }

  private async *streamCounted(inner: Model, call: ModelCall, countsErrors: boolean): AsyncIterable<ModelEvent> {
    const model = this.metricLabel(inner.name);
    try {
      for await (const event of inner.streamAnswer(call)) {
        if ('end' in event && event.end.usage) {
          this.tokens.inc({ model, direction: 'input' }, event.end.usage.inputTokens);
          this.tokens.inc({ model, direction: 'output' }, event.end.usage.outputTokens);
        }
        yield event;
      }
    } catch (error) {
      if (countsErrors && !call.signal.aborted) this.errors.inc({ model });
      throw error;
    }
  }

  private metricLabel(name: string): string {
    if (this.names.size < MOST_NAMES) this.names.add(name);
    return this.names.has(name) ? name : 'other';
  }
}

/**
 * Finds the models of the operator's endpoint (`LLM_*`), by their names at the endpoint. Without an endpoint, the
 * built-in model answers for every name.
 */
@Injectable()
export class ConfiguredModels extends Models {
  readonly defaultModel: Model;
  /** True if an endpoint is configured. The endpoint itself rejects unknown names. */
  readonly hasEndpoint: boolean;
  /** Options shared by the calls of all models in this process. */
  readonly shared: Pick<
    ProviderModelOptions,
    'files' | 'ownFiles' | 'fileLimit' | 'fileRoom' | 'room' | 'jsonMembers' | 'refusedFormats'
  >;
  private readonly endpoint: string | undefined;
  private readonly echo: Model;
  private readonly named: (name: string, signer?: ModelSigner) => Model;

  /** @param ownFiles absent in a stand-alone agent, which stores no files */
  constructor(
    { llm, content }: AppConfig,
    http: OutboundHttp,
    metrics: Metrics,
    @Optional() ownFiles?: OwnFiles,
    @Optional() room?: ReceivedAnswers,
    @Optional() rooms?: ContentRooms,
  ) {
    super();
    const { artifact: fileLimit, jsonMembers } = content;
    const fileRoom = rooms?.modelFiles;
    const refusedFormats = new RefusedFormats();
    this.shared = { files: http.fetch, ownFiles, fileLimit, fileRoom, room, jsonMembers, refusedFormats };
    const { baseUrl, apiKey, inputModes: input, defaults } = llm;
    const counts = new ModelCounts(metrics);
    this.hasEndpoint = baseUrl !== undefined;
    this.endpoint = baseUrl;
    this.echo = counts.countModel(new EchoModel());
    if (baseUrl === undefined) {
      this.named = () => this.echo;
    } else {
      // The operator chose the endpoint, so it may be in a private network or on this machine.
      const ways = {
        ...this.shared,
        http: http.trustingFetch(baseUrl),
        provider: 'openai-compatible',
        baseUrl,
      } as const;
      const key = new KeySigner(apiKey);
      this.named = (model, signer = key) =>
        counts.countModel(new ProviderModel({ ...ways, signer, name: model, model, input, defaults }));
    }
    this.defaultModel = this.selectModel(llm.model ?? ECHO_MODEL);
  }

  /** Finds a model. @throws ModelError if a credential is named, as this class has no stored credentials */
  async findModel(name: string | undefined, { credentials = [] }: Partial<WantedModel> = {}): Promise<Model> {
    if (credentials.length > 0) throw new ModelError('there are no credentials here');
    return name === undefined ? this.defaultModel : this.selectModel(name);
  }

  /** Returns a model whose calls carry the credential of `signer` in place of the operator's key. */
  signedBy(signer: ModelSigner, name = this.defaultModel.name): Model {
    return this.selectModel(name, signer);
  }

  async findOrigin(name = this.defaultModel.name): Promise<string | undefined> {
    return name === ECHO_MODEL || this.endpoint === undefined ? undefined : new URL(this.endpoint).origin;
  }

  async findInput(name: string): Promise<ModelInput> {
    return { modes: this.selectModel(name).inputModes };
  }

  private selectModel(name: string, signer?: ModelSigner): Model {
    return name === ECHO_MODEL ? this.echo : this.named(name, signer);
  }
}

/**
 * Finds the models of `/api/models`, else the models of the operator's endpoint. Without an endpoint, an unknown name
 * selects the built-in model if the tenant stores no model; otherwise it is an error.
 */
@Injectable()
export class StoredModels extends Models {
  readonly defaultModel: Model;
  private readonly counts: ModelCounts;

  constructor(
    private readonly configured: ConfiguredModels,
    private readonly store: ModelStore,
    private readonly signers: RequestSigners,
    private readonly http: OutboundHttp,
    metrics: Metrics,
  ) {
    super();
    this.defaultModel = configured.defaultModel;
    this.counts = new ModelCounts(metrics);
  }

  /**
   * Finds a model. The stored model is read from the database each time, so a change applies to the next call on every
   * replica.
   * @throws ModelError for an unknown name, if the tenant has models and the operator no endpoint
   */
  async findModel(name: string | undefined, wanted: WantedModel): Promise<Model> {
    const { tenant, signal } = wanted;
    if (name === undefined || name === ECHO_MODEL) return this.ofOperator(name, wanted);
    const found = MODEL_NAME.test(name) ? await this.store.awaitModel({ tenant, name }, signal) : undefined;
    if (found) return this.counts.countModel(this.modelOf(found, wanted));
    if (!this.configured.hasEndpoint && (await this.store.isInUse(tenant, signal)))
      throw new ModelError(`there is no model "${name}"`);
    return this.ofOperator(name, wanted);
  }

  /**
   * True for `echo` and for a stored model. True for any name if the operator configured an endpoint, or if no model is
   * stored or saved together with the workflow. Rejects, without retries, if the database is unreachable.
   */
  override async isUsable(name: string, { tenant, hasOthers = false }: ModelUse): Promise<boolean> {
    if (name === ECHO_MODEL || this.configured.hasEndpoint) return true;
    if (MODEL_NAME.test(name) && (await this.store.readModel({ tenant, name }))) return true;
    return !hasOthers && (await this.store.listModels(tenant, { limit: 1, after: '' })).length === 0;
  }

  /** Returns the origin of a model; `undefined` for the built-in model. The stored model is read each time. */
  async findOrigin(name: string | undefined, { tenant }: Pick<WantedModel, 'tenant'>): Promise<string | undefined> {
    const found = name && MODEL_NAME.test(name) ? await this.store.readModel({ tenant, name }) : undefined;
    if (!found) return this.configured.findOrigin(name);
    const baseUrl = baseUrlOf(found);
    return URL.canParse(baseUrl) ? new URL(baseUrl).origin : undefined;
  }

  /** Returns the media types that a model accepts. The stored model is read each time. */
  async findInput(name: string, { tenant }: { tenant: string }): Promise<ModelInput> {
    const found = MODEL_NAME.test(name) ? await this.store.readModel({ tenant, name }) : undefined;
    return found ? { modes: inputModes(found.input), changedAt: found.updatedAt } : this.configured.findInput(name);
  }

  private modelOf({ tenant, name, auth, ...rest }: StoredModel, wanted: WantedModel): Model {
    const baseUrl = baseUrlOf(rest);
    const ownSigner = (): ModelSigner =>
      auth === undefined
        ? new KeySigner(undefined)
        : new CredentialSigner(this.signers, { credential: auth, tenant, agentUrl: baseUrl }, rest.provider);
    const signer = this.signerOf(wanted, rest.provider) ?? ownSigner();
    return new ProviderModel({ ...rest, ...this.configured.shared, name, baseUrl, signer, http: this.http.fetch });
  }

  private async ofOperator(name: string | undefined, wanted: WantedModel): Promise<Model> {
    const signer = this.signerOf(wanted, 'openai-compatible');
    return signer ? this.configured.signedBy(signer, name) : this.configured.findModel(name);
  }

  /** Returns the signer that replaces the model's own signer; `undefined` if the lookup names no credentials. */
  private signerOf({ tenant, credentials = [] }: WantedModel, provider: ModelProvider): ModelSigner | undefined {
    if (credentials.length === 0) return undefined;
    return new FirstUsableSigner(this.signers, { tenant, credentials }, provider);
  }
}

/** Default of `CoalescingOptions.heldMs`, in milliseconds. */
const HELD_MS = 80;

/** Starts a timer that resolves `over` after `ms` milliseconds; `endPause` stops it. */
type Pause = (ms: number) => { over: Promise<void>; endPause(): void };

/** Piece that `coalesceText` yields: text, and the event after it. Without `event`, more text may follow. */
export interface Piece<E> {
  text: string;
  event?: E;
}

/** Options of `coalesceText`. */
export interface CoalescingOptions {
  /** Milliseconds that text is held back to be merged with later text; default 80. */
  heldMs?: number;
  /** Timer, which tests replace. */
  pause?: Pause;
}

/**
 * Merges consecutive text events, and yields each other event together with the text before it.
 * - Text is yielded at most `heldMs` after its first piece, so at most once in that time.
 * - A surrogate pair is not split: its first half is held back until the second arrives. A half without the other
 *   becomes U+FFFD.
 */
export async function* coalesceText<E extends object>(
  events: AsyncIterable<E | { text: string }>,
  { heldMs = HELD_MS, pause = startTimer }: CoalescingOptions = {},
): AsyncGenerator<Piece<E>> {
  const iterator = events[Symbol.asyncIterator]();
  let text = '';
  let held: ReturnType<Pause> | undefined;
  const letGo = (piece = text): string => {
    text = text.slice(piece.length);
    held?.endPause();
    held = undefined;
    return piece.toWellFormed();
  };
  try {
    for (let next = iterator.next(); ;) {
      const result = await (held ? Promise.race([next, held.over]) : next);
      if (!result) {
        const piece = letGo(withoutHalf(text));
        if (piece !== '') yield { text: piece };
        continue;
      }
      if (result.done) break;
      next = iterator.next();
      // Avoids an unhandled rejection if the reader leaves before this piece.
      next.catch(() => undefined);
      const { value } = result;
      if (!isText(value)) yield { text: letGo(), event: value };
      else if (value.text !== '') {
        text += value.text;
        held ??= pause(heldMs);
      }
    }
    if (text !== '') yield { text: letGo() };
  } finally {
    held?.endPause();
    void iterator.return?.().catch(() => undefined);
  }
}

function isText<E extends object>(event: E | { text: string }): event is { text: string } {
  return 'text' in event;
}

function startTimer(ms: number): ReturnType<Pause> {
  let timeout: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timeout = setTimeout(resolve, ms);
  });
  return { over, endPause: () => clearTimeout(timeout) };
}

/** Whole answer of a model. */
export interface WholeAnswer {
  /** Parts in order. Consecutive text is one Part. */
  parts: Part[];
  toolCalls: ModelToolCall[];
  end: ModelEnd;
}

/** Calls a model and reads its answer to the end. @throws as `Model.streamAnswer` does */
export async function wholeAnswer(model: Model, call: ModelCall): Promise<WholeAnswer> {
  const parts: Part[] = [];
  const toolCalls: ModelToolCall[] = [];
  let growing: Part | undefined;
  for await (const event of model.streamAnswer(call)) {
    if ('end' in event) return { parts: parts.length > 0 ? parts : [{ text: '' }], toolCalls, end: event.end };
    if ('toolCall' in event) toolCalls.push(event.toolCall);
    else if ('part' in event) {
      parts.push(event.part);
      growing = undefined;
    } else if (growing) growing.text = (growing.text ?? '') + event.text;
    else parts.push((growing = { text: event.text, mediaType: 'text/plain' }));
  }
  throw new Error('a stream of a model ended before its last event');
}

/** Validator of the JSON of an answer. Paths are relative to the value, such as `.items[2]`. */
export interface AnswerRules {
  faults(value: JsonValue): { path: string; detail: string }[];
}

/** Maximum number of faults of one answer that are sent back to a model. */
const MOST_FAULTS = 10;

/**
 * Options for validating an answer. Without them, the answer is validated against the schema that the model is given.
 */
export interface AnswerLimits {
  /** Validator that replaces the schema; absent: the schema is used. */
  rules?: AnswerRules;
  /** JSON Schema (draft 7) that replaces the schema for validation; ignored if `rules` is set. */
  accepts?: JsonObject;
  /** Maximum number of members and elements of the JSON; by default that of `JSON_MEMBERS_LIMIT`. */
  mostMembers?: number;
}

/** Required form of an answer: JSON that conforms to a schema. */
export class StructuredAnswer {
  private readonly rules: AnswerRules | undefined;
  private readonly mostMembers: number;

  /**
   * @param schema JSON Schema that the model is given. The answer is validated against it unless `AnswerLimits` says
   * otherwise.
   */
  constructor(
    readonly schema: JsonObject,
    {
      accepts = schema,
      rules = InputSchema.ifValid(accepts, undefined, { mostFaults: MOST_FAULTS }),
      mostMembers,
    }: AnswerLimits = {},
  ) {
    this.rules = rules;
    this.mostMembers = mostMembers ?? DEFAULT_CONTENT_LIMITS.jsonMembers;
  }

  /** Returns the JSON value of an answer, or its first ten faults in one string. A fault begins with its path. */
  readValue(answer: readonly Part[]): { value: JsonValue } | { fault: string } {
    const value = firstData(answer) ?? this.jsonIn(joinedText(answer) ?? '');
    if (value === undefined) return { fault: 'output is not valid JSON' };
    const faults = this.rules?.faults(value).slice(0, MOST_FAULTS) ?? [];
    if (faults.length === 0) return { value };
    return { fault: faults.map(({ path, detail }) => `output${path} ${detail}`).join('; ') };
  }

  /** Returns one string for each invalid answer, with its first ten faults; an empty list if all answers are valid. */
  faultsOf(answers: readonly (readonly Part[])[]): string[] {
    return answers.map((answer) => this.readValue(answer)).flatMap((read) => ('fault' in read ? [read.fault] : []));
  }

  /** Returns the text for the model that names the first faults of its answer and asks for a corrected one. */
  complaintAbout(answer: readonly Part[]): string {
    const [fault = ''] = this.faultsOf([answer]);
    return `That is not what was asked for: ${fault}. Answer again, with the whole JSON document and nothing else.`;
  }

  private jsonIn(text: string): JsonValue | undefined {
    const { rules, mostMembers } = this;
    return jsonInText(text, {
      read: (json) => (hasMoreMembers(json, mostMembers) ? undefined : tryParseFitJson(json)),
      ...(rules && { fits: (value) => rules.faults(value).length === 0 }),
    });
  }
}
