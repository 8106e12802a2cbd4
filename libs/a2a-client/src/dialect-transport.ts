import { A2A_ERRORS, type SendMessageRequest, type StreamResponse, type Task } from '#libs/protocol';
import { AgentCallError } from './agent-call-error.js';
import type { AgentTransport, TransportOptions } from './agent-transport.js';
import { isUnconnected, toAgentCallError } from './call-failure.js';
import type { JsonRpcDialect, JsonRpcTransport } from './json-rpc-transport.js';
import { pre10Dialect, undeclaredDialect } from './pre-1-0-dialect.js';
import type { SpokenDialect, SpokenDialects } from './spoken-dialects.js';

/** An agent that may speak A2A 1.0 or the pre-1.0 dialect. */
export interface UndeclaredAgent {
  /** URL that its calls go to. */
  endpoint: string;
  /** Dialect to start with if none is remembered. */
  first: SpokenDialect;
  /** Creates the transport of one dialect to the endpoint. */
  openDialect: (dialect: JsonRpcDialect) => JsonRpcTransport;
}

/** State of one request over its attempts. */
interface Sending {
  /** Dialect of the newest attempt. */
  dialect: SpokenDialect;
  /** True if the agent may have executed the request: an attempt was sent and not answered. */
  isUncertain: boolean;
}

/**
 * Transport over JSON-RPC to an agent whose card does not declare A2A 1.0.
 * - A Message that was rejected for its method or shape, so that nothing ran, is sent again in another dialect with the
 *   same messageId. After a Task, a lost connection or a time-out the dialect never changes.
 * - A retry starts with the dialect of the previous attempt. After a time-out it keeps that dialect, whatever the agent
 *   answers.
 * - The dialect that an agent answered in is remembered, and forgotten when the agent rejects its method.
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

/** Returns the dialect to try after a rejection; `undefined` if the rejection is not about dialects. */
function nextDialect(refused: SpokenDialect, refusal: AgentCallError): SpokenDialect | undefined {
  if (isUnknownMethod(refusal)) return refused === '1.0' ? 'pre-1.0' : '1.0';
  if (refusal.code !== A2A_ERRORS.INVALID_PARAMS.code) return undefined;
  if (refused === 'pre-1.0') return 'bare pre-1.0';
  return refused === '1.0' && refusal.matchesErrorText(SHAPE) ? 'pre-1.0' : undefined;
}

/** Names of members that the pre-1.0 dialect writes differently. */
const SHAPE = /\b(role|parts?)\b/i;

/** True if the agent has answered with an error of its protocol or of HTTP. */
function isAnswer({ code }: AgentCallError): boolean {
  return code !== undefined;
}

function isUnknownMethod({ code }: AgentCallError): boolean {
  return code === A2A_ERRORS.METHOD_NOT_FOUND.code;
}

/** Returns the newest rejection that is not about an unknown method, else the first one. */
function mostInformativeRefusal(refusals: ReadonlyMap<SpokenDialect, AgentCallError>): unknown {
  const all = [...refusals.values()];
  return all.findLast((it) => !isUnknownMethod(it)) ?? all[0];
}

function unsupportedMethod(method: string): AgentCallError {
  const text = `the agent speaks the pre-1.0 dialect, which has no ${method}`;
  return new AgentCallError('rpc-error', text, { code: A2A_ERRORS.METHOD_NOT_FOUND.code });
}
