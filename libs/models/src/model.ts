import { type FaultKind, PublicFault } from '#libs/faults';
import { briefText, type JsonObject, type JsonValue, type Part } from '#libs/protocol';

/** Maximum size of a model's answer, in bytes. Answers of agents have the same maximum. */
export const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** Values of `ToolCallForm`. */
export const TOOL_CALL_FORMS = ['native', 'schema'] as const;

/**
 * Form in which a model calls tools: `native` is the API of the provider. With `schema`, the model writes a call as a
 * JSON document, which the schema of its answer permits.
 */
export type ToolCallForm = (typeof TOOL_CALL_FORMS)[number];

/** Model that answers a conversation. It runs no tools itself, and does not retry after an outage. */
export interface Model {
  /** Name of the model in nodes, events and metrics. */
  readonly name: string;
  /**
   * Media types of the Parts that the model accepts, such as `text/plain` or `image/*`; always includes text and JSON.
   */
  readonly inputModes: readonly string[];
  /** Provider, such as `openai-compatible`; absent for the built-in model. */
  readonly provider?: string;
  /** Name of the model at its provider; absent for the built-in model. */
  readonly providerModel?: string;
  /** Form in which the model calls tools; absent: `native`. */
  readonly toolCalls?: ToolCallForm | undefined;
  /**
   * Streams one answer. Exactly one event is an `end`, and it is the last event. Returning early from the iterator
   * aborts the call.
   * @throws ModelError if the model gives no whole answer
   * @throws the reason of the signal if it aborts
   */
  streamAnswer(call: ModelCall): AsyncIterable<ModelEvent>;
  /**
   * Estimates the usage of a call before it is made. `cost` is absent if the model has no price. Absent for the built-in
   * model, which uses no tokens.
   */
  estimateUsage?(call: ModelCall): ModelUsage;
  /**
   * Returns the secrets that a call would send now; empty if they cannot be read. Absent if calls send none.
   */
  readSecrets?(signal: AbortSignal): Promise<readonly string[]>;
}

/** Input of one call of a model. */
export interface ModelCall {
  /** Conversation so far, which must be JSON. The model answers the last message. */
  messages: readonly ModelMessage[];
  tools?: readonly ModelTool[];
  temperature?: number;
  /** Total probability of the tokens from which the model samples, from 0 to 1; absent: the default of the provider. */
  topP?: number;
  /** Texts before which the answer ends; absent: none. Ignored if `output` is set. */
  stop?: readonly string[];
  /**
   * Maximum number of tokens of the answer. An answer that the provider truncates at this limit fails. Absent: the
   * default of the provider.
   */
  maxTokens?: number;
  /**
   * JSON Schema for the answer. The model is asked for one JSON document, which this call does not validate. Absent:
   * the answer is free text.
   */
  output?: JsonObject;
  /**
   * True if the model must answer now and call no tool. Providers that permit it then get the schema `output` although
   * `tools` are offered.
   */
  isAnswerOnly?: boolean;
  /** True if `messages` already describe the schema `output`, so that no system message about it is added. */
  isOutputDescribed?: boolean;
  /** Additional headers of the HTTP request to the provider; absent: none. */
  headers?: Readonly<Record<string, string>>;
  /** Tenant and owner whose files of this service the model may read by URL; absent: none. */
  reader?: { readonly tenant: string; readonly owner: string };
  signal: AbortSignal;
}

export type ModelMessage =
  | { role: 'system'; parts: Part[] }
  | { role: 'user'; parts: Part[] }
  | AssistantMessage
  | { role: 'tool'; results: ToolResult[] };

/** Earlier answer of a model, as a message of the conversation with a model. */
export interface AssistantMessage {
  role: 'assistant';
  parts: Part[];
  toolCalls?: ModelToolCall[];
  /**
   * Data that the provider wants back with this answer (`ModelEnd.kept`); absent if it wants none. Models of other
   * providers ignore this value and use the other members of the message.
   */
  kept?: JsonValue;
}

/** Tool that a model may call. */
export interface ModelTool {
  /** Name of the tool for the model: letters, digits, `_` and `-`, at most 64. */
  name: string;
  description?: string;
  /** JSON Schema of the arguments, which are an object. */
  inputSchema: JsonObject;
}

/** Call of a tool that a model requests. */
export interface ModelToolCall {
  id: string;
  name: string;
  args: JsonObject;
  /** Arguments as the model sent them, if they are not a JSON object; `args` is then empty. */
  malformed?: string;
}

/** Result of a tool call, for the model: either `result` or `error`. */
export interface ToolResult {
  /** Id of the tool call that this result answers. */
  id: string;
  name: string;
  result?: JsonValue;
  error?: string;
}

export type ModelEvent =
  /** Piece of the answer's text. */
  | { text: string }
  /** Part of the answer that is not text. */
  | { part: Part }
  /** Tool call, once all its pieces have arrived. */
  | { toolCall: ModelToolCall }
  | { end: ModelEnd };

/** End of a whole answer. */
export interface ModelEnd {
  /** Reason for the end. `other`: the endpoint names a reason that is not standard. */
  reason: 'stop' | 'tool-calls' | 'other';
  /** Number of tokens of the call, if the provider reports them. */
  usage?: ModelUsage;
  /**
   * Data that this provider wants back with the answer in later calls, such as reasoning and its signatures; absent if
   * it wants none.
   */
  kept?: JsonValue;
  /**
   * Description of how the end deviates from the protocol of the provider, such as `its answer ended with [DONE] and
   * without a finish_reason`; absent if it does not deviate. A reader puts the name of the model before this text.
   */
  note?: string;
}

/** Number of tokens of one or more calls. */
export interface ModelUsage {
  inputTokens: number;
  outputTokens: number;
  /** Input tokens that the provider read from its cache, a part of `inputTokens`; absent if it reports none. */
  cachedInputTokens?: number;
  /** Input tokens that the provider wrote to its cache, a part of `inputTokens`; absent if it reports none. */
  cacheWriteInputTokens?: number;
  /** Output tokens that the model used for reasoning, a part of `outputTokens`; absent if the provider reports none. */
  reasoningTokens?: number;
  /** Cost in US dollars, as a decimal number; absent if the model has no price. */
  cost?: string;
}

/** Kind of an outage of a model, as `retry.on` of a node names it. */
export type ModelOutage =
  | 'connect' // no connection, or one that broke
  | 'timeout' // no answer in time
  | 'server-error' // HTTP 5xx
  | 'rate-limited' // HTTP 429
  | 'overloaded'; // this replica reads too many large answers or files for models

interface ModelErrorOptions {
  cause?: unknown;
  status?: number | undefined;
  fallback?: boolean;
  outage?: ModelOutage | undefined;
  retryAfter?: number | undefined;
  usage?: ModelUsage | undefined;
  isTruncated?: boolean;
  isOverflow?: boolean;
  tokenLimit?: number | undefined;
}

/**
 * Error of a call without a whole answer. `message` is safe for callers: it has the reason that the provider gives, but
 * no key and no internals.
 */
export class ModelError extends PublicFault {
  override readonly name = 'ModelError';
  /** HTTP status, if the provider answered with an error status. */
  readonly status: number | undefined;
  /**
   * True if the next model of a node's `fallbacks` may answer instead: after any outage, or an answer that was
   * truncated or broke off. False if the provider refuses the request (400, 401, 403) or withholds the answer.
   */
  readonly fallback: boolean;
  /** Kind of the outage; absent if a retry would probably fail too. */
  readonly outage: ModelOutage | undefined;
  /** Milliseconds that the provider asks to wait before the next call (`Retry-After`); `undefined` if it does not. */
  readonly retryAfter: number | undefined;
  /** Number of tokens of the call, if the provider reports them for the answer that failed. */
  readonly usage: ModelUsage | undefined;
  /** True if the answer was truncated at its token limit. */
  readonly isTruncated: boolean;
  /** True if the conversation is longer than the context of the model. */
  readonly isOverflow: boolean;
  /**
   * Token limit of the answer, if the call had one; 0 if the provider has a limit that Parley does not know. `undefined`
   * if only the context limits an answer.
   */
  readonly tokenLimit: number | undefined;

  constructor(message: string, options: ModelErrorOptions = {}) {
    super(briefText(message), { cause: options.cause });
    this.status = options.status;
    this.fallback = options.fallback === true;
    this.outage = options.outage;
    this.retryAfter = options.retryAfter;
    this.usage = options.usage;
    this.isTruncated = options.isTruncated === true;
    this.isOverflow = options.isOverflow === true;
    this.tokenLimit = options.tokenLimit;
  }

  override get kind(): FaultKind {
    return this.outage ?? 'failed';
  }
}
