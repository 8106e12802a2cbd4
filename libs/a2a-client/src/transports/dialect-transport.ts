import { LRUCache } from 'lru-cache';
import {
  A2A_ERRORS,
  isFilePart,
  isJsonObject,
  isPre10Task,
  type JsonObject,
  type JsonValue,
  partKind,
  PRE_1_0_SEND,
  readPre10SendResult,
  readPre10Task,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
  writePre10SendParams,
} from '#libs/protocol';
import { AgentCallError } from '../agent-call-error.js';
import { isUnconnected, toAgentCallError } from '../call-failure.js';
import type { AgentTransport, TransportOptions } from './agent-transport.js';
import type { JsonRpcDialect, JsonRpcTransport } from './json-rpc-transport.js';

/**
 * Dialect for calls to an agent whose card names no version: A2A 1.0, the pre-1.0 dialect, or the bare pre-1.0 dialect,
 * whose requests omit members that the pre-1.0 dialect does not define.
 */
export type SpokenDialect = '1.0' | 'pre-1.0' | 'bare pre-1.0';

const MOST_AGENTS = 1_000;

/** Remembers the detected dialect of each endpoint for a time after its last answer; at most a thousand endpoints. */
export class SpokenDialects {
  readonly #known: LRUCache<string, SpokenDialect> | undefined;

  /** @param maxAge milliseconds; 0 remembers nothing */
  constructor(maxAge: number) {
    this.#known = maxAge > 0 ? new LRUCache({ max: MOST_AGENTS, ttl: maxAge }) : undefined;
  }

  get(endpoint: string): SpokenDialect | undefined {
    return this.#known?.get(endpoint);
  }

  set(endpoint: string, dialect: SpokenDialect): void {
    this.#known?.set(endpoint, dialect);
  }

  delete(endpoint: string): void {
    this.#known?.delete(endpoint);
  }
}

/**
 * Creates the dialect for an agent whose card names no version: A2A 1.0 in a form that older agents understand. Its
 * requests also have the older member `blocking`, and answers of the pre-1.0 dialect are converted to 1.0.
 * @param onPre10Task called when the agent has answered with a Task of the pre-1.0 dialect
 */
function undeclaredDialect(onPre10Task: () => void): JsonRpcDialect {
  return {
    writeParams: (params) =>
      isJsonObject(params.configuration)
        ? { ...params, configuration: blockingConfiguration(params.configuration) }
        : params,
    readResult: (method, result) => {
      if (method !== 'SendMessage') return isPre10Task(result) ? readPre10Task(result) : result;
      if (isPre10Task(result)) onPre10Task();
      return readSendResult(result);
    },
  };
}

/**
 * Creates the pre-1.0 dialect: `a2a.sendMessage`, which answers with a Task.
 * @param isBare true to omit ids and metadata, which the dialect does not define
 */
function pre10Dialect(isBare: boolean): JsonRpcDialect {
  return {
    sendMethod: PRE_1_0_SEND,
    writeParams: (params) => writePre10SendParams(withoutFiles(params as unknown as SendMessageRequest), isBare),
    readResult: (_method, result) => readSendResult(result),
  };
}

/**
 * Reads the answer to a Message.
 * @throws AgentCallError `invalid-response` for a Task that is still active: the pre-1.0 dialect cannot follow a Task
 */
function readSendResult(result: JsonObject): JsonObject {
  const answer = readPre10SendResult(result);
  if (!isPre10Task(result) || !ACTIVE.has(result.status)) return answer;
  const text = 'the agent answered before its Task has ended, and its pre-1.0 dialect has no way to follow a Task';
  throw new AgentCallError('invalid-response', text);
}

const ACTIVE = new Set<JsonValue | undefined>(['created', 'working']);

function blockingConfiguration({ returnImmediately: _immediately, ...configuration }: JsonObject): JsonObject {
  return { ...configuration, blocking: true };
}

/**
 * Returns a request after a check that its Message has no file, which the pre-1.0 dialect cannot send.
 * @throws AgentCallError `refused` for a Message with a file; nothing is sent
 */
function withoutFiles(request: SendMessageRequest): SendMessageRequest {
  const place = request.message.parts.findIndex(isFilePart);
  const file = request.message.parts[place];
  if (file === undefined) return request;
  const text = `the agent takes no files: its pre-1.0 dialect has texts and data, and Part ${place + 1} is ${partKind(file)}`;
  throw new AgentCallError('refused', text);
}

/** Agent whose card does not say whether it speaks A2A 1.0 or the pre-1.0 dialect. */
export interface UndeclaredAgent {
  /** URL that the calls of this agent go to. */
  endpoint: string;
  /** Dialect to try first if none is remembered for the endpoint. */
  first: SpokenDialect;
  /** Creates the transport of one dialect to the endpoint. */
  openDialect: (dialect: JsonRpcDialect) => JsonRpcTransport;
}

/** State of sending one request, shared by all attempts to send it, in whichever dialect. */
interface Sending {
  /** Dialect of the newest attempt. */
  dialect: SpokenDialect;
  /** True if the agent may have executed the request: an attempt was sent, and no answer to it arrived. */
  isUncertain: boolean;
}

/**
 * Transport over JSON-RPC to an agent whose card does not declare A2A 1.0.
 * - A Message that was rejected for its method or shape, so that nothing ran, is sent again in another dialect with the
 *   same messageId. After a Task, a lost connection or a time-out the dialect never changes.
 * - A retry starts with the dialect of the previous attempt. After a time-out the retry keeps that dialect, whatever
 *   the agent answers.
 * - The dialect that an agent answered in is remembered, and forgotten when the agent rejects the dialect's method.
 * - The pre-1.0 dialect only sends Messages: GetTask and CancelTask fail without a request.
 */
export class DialectTransport implements AgentTransport {
  readonly streaming = false;
  readonly timeouts = {};
  readonly #transports = new Map<SpokenDialect, JsonRpcTransport>();
  readonly #sendings = new WeakMap<SendMessageRequest, Sending>();

  constructor(
    private readonly agent: UndeclaredAgent,
    private readonly dialects: SpokenDialects,
  ) {}

  async *sendMessage(request: SendMessageRequest, options: TransportOptions): AsyncIterable<StreamResponse> {
    yield await this.#sendInDialects(request, options);
  }

  // oxlint-disable-next-line require-yield
  async *subscribeToTask(): AsyncIterable<StreamResponse> {
    throw unsupportedMethod('SubscribeToTask');
  }

  async getTask(taskId: string, options: TransportOptions): Promise<Task> {
    if (this.#spoken !== '1.0') throw unsupportedMethod('GetTask');
    return this.#findTransport('1.0').getTask(taskId, options);
  }

  async cancelTask(taskId: string, options: TransportOptions): Promise<Task> {
    if (this.#spoken !== '1.0') throw unsupportedMethod('CancelTask');
    return this.#findTransport('1.0').cancelTask(taskId, options);
  }

  get #spoken(): SpokenDialect {
    return this.dialects.get(this.agent.endpoint) ?? this.agent.first;
  }

  async #sendInDialects(request: SendMessageRequest, options: TransportOptions): Promise<StreamResponse> {
    const refusals = new Map<SpokenDialect, AgentCallError>();
    const sending = this.#sendingOf(request);
    for (;;) {
      const { dialect, isUncertain } = sending;
      sending.isUncertain = true;
      try {
        return await this.#sendAs(dialect, request, options);
      } catch (error) {
        const refusal = toAgentCallError(error);
        sending.isUncertain = isUncertain || !(isUnconnected(refusal) || isAnswer(refusal));
        if (isUnknownMethod(refusal)) this.dialects.delete(this.agent.endpoint);
        refusals.set(dialect, refusal);
        const next = isUncertain ? undefined : nextDialect(dialect, refusal);
        if (next === undefined || refusals.has(next)) throw mostInformativeRefusal(refusals);
        sending.dialect = next;
      }
    }
  }

  #sendingOf(request: SendMessageRequest): Sending {
    const kept = this.#sendings.get(request);
    if (kept) return kept;
    const made = { dialect: this.#spoken, isUncertain: false };
    this.#sendings.set(request, made);
    return made;
  }

  async #sendAs(
    dialect: SpokenDialect,
    request: SendMessageRequest,
    options: TransportOptions,
  ): Promise<StreamResponse> {
    for await (const answer of this.#findTransport(dialect).sendMessage(request, options)) {
      if (dialect !== '1.0' || this.agent.first !== '1.0') this.dialects.set(this.agent.endpoint, dialect);
      return answer;
    }
    throw new AgentCallError('invalid-response', 'the agent answered with nothing');
  }

  #findTransport(dialect: SpokenDialect): JsonRpcTransport {
    const kept = this.#transports.get(dialect);
    if (kept) return kept;
    const made = this.agent.openDialect(
      dialect === '1.0' ? this.#createUndeclaredDialect() : pre10Dialect(dialect === 'bare pre-1.0'),
    );
    this.#transports.set(dialect, made);
    return made;
  }

  #createUndeclaredDialect(): JsonRpcDialect {
    return undeclaredDialect(() => this.dialects.set(this.agent.endpoint, 'pre-1.0'));
  }
}

/** Returns the dialect to try after a rejection; `undefined` if another dialect would not help. */
function nextDialect(refused: SpokenDialect, refusal: AgentCallError): SpokenDialect | undefined {
  if (isUnknownMethod(refusal)) return refused === '1.0' ? 'pre-1.0' : '1.0';
  if (refusal.code !== A2A_ERRORS.INVALID_PARAMS.code) return undefined;
  if (refused === 'pre-1.0') return 'bare pre-1.0';
  return refused === '1.0' && refusal.matchesErrorText(SHAPE) ? 'pre-1.0' : undefined;
}

/**
 * Pattern of error texts that name `role` or `part`. The pre-1.0 dialect writes these members of a Message differently,
 * so such an error may mean that the agent speaks this dialect.
 */
const SHAPE = /\b(role|parts?)\b/i;

/** True if the agent has answered with an error of its protocol or of HTTP. */
function isAnswer({ code }: AgentCallError): boolean {
  return code !== undefined;
}

function isUnknownMethod({ code }: AgentCallError): boolean {
  return code === A2A_ERRORS.METHOD_NOT_FOUND.code;
}

/** Returns the newest rejection that is not about an unknown method; if all are, the first rejection. */
function mostInformativeRefusal(refusals: ReadonlyMap<SpokenDialect, AgentCallError>): unknown {
  const all = [...refusals.values()];
  return all.findLast((it) => !isUnknownMethod(it)) ?? all[0];
}

function unsupportedMethod(method: string): AgentCallError {
  const text = `the agent speaks the pre-1.0 dialect, which has no ${method}`;
  return new AgentCallError('rpc-error', text, { code: A2A_ERRORS.METHOD_NOT_FOUND.code });
}
