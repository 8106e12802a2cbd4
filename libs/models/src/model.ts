import { briefText, type FaultKind, type JsonObject, type JsonValue, type Part, PublicFault } from '#libs/protocol';

/** Model that answers conversations. It runs no tools and does not retry: each `streamAnswer` is one call of a provider. */
export interface Model {
  /** Name used by nodes, events and metrics. */
  readonly name: string;
  /** Media types of accepted Parts, such as `text/plain` or `image/*`; always includes text and data. */
  readonly inputModes: readonly string[];
  /** Provider, such as `openai-compatible`; absent if the model needs none. */
  readonly provider?: string;
  /**
   * Streams one answer. The last event is the only `end`. Returning early from the iterator aborts the call.
   * @throws ModelError if there is no whole answer; the signal's reason if it aborts
   */
  streamAnswer(call: ModelCall): AsyncIterable<ModelEvent>;
}

export interface ModelCall {
  /** Conversation so far, all JSON; the last message is the one to answer. */
  messages: readonly ModelMessage[];
  tools?: readonly ModelTool[];
  temperature?: number;
  /** Maximum tokens of the answer. An answer that the provider truncates there fails. */
  maxTokens?: number;
  /** JSON Schema for the answer. The model is asked for one JSON document; it is not validated here. */
  output?: JsonObject;
  /** True if the messages already describe the schema. */
  isOutputDescribed?: boolean;
  /** Additional headers of the provider's HTTP request. */
  headers?: Readonly<Record<string, string>>;
  /** Owner whose files of this service the model may read by their URLs; absent: no files. */
  reader?: { readonly tenant: string; readonly owner: string };
  signal: AbortSignal;
}

export type ModelMessage =
  | { role: 'system'; parts: Part[] }
  | { role: 'user'; parts: Part[] }
  | AssistantMessage
  | { role: 'tool'; results: ToolResult[] };

/** Earlier answer of a model. */
export interface AssistantMessage {
  role: 'assistant';
  parts: Part[];
  toolCalls?: ModelToolCall[];
  /** Value of `end.kept`. Models of other providers ignore it and use the other members. */
  kept?: JsonValue;
}

/** Tool that a model may call. */
export interface ModelTool {
  /** Name on the wire: letters, digits, `_` and `-`, at most 64. */
  name: string;
  description?: string;
  /** JSON Schema of an object. */
  inputSchema: JsonObject;
}

export interface ModelToolCall {
  id: string;
  name: string;
  args: JsonObject;
  /** Text that the model sent instead of a JSON object; `args` is empty then. */
  malformed?: string;
}

/** Result of a call: either `result` or `error`. */
export interface ToolResult {
  /** Id of the call. */
  id: string;
  name: string;
  result?: JsonValue;
  error?: string;
}

export type ModelEvent =
  /** Piece of the answer's text. */
  | { text: string }
  /** Part that is not text. */
  | { part: Part }
  /** Complete call, after its last piece. */
  | { toolCall: ModelToolCall }
  | { end: ModelEnd };

export interface ModelEnd {
  /** Reason for the end of a whole answer; `other` is a word specific to the endpoint. */
  reason: 'stop' | 'tool-calls' | 'other';
  /** Token counts, if the provider reports them. */
  usage?: ModelUsage;
  /** Data that this provider wants back with the answer in later calls, such as signatures of its reasoning. */
  kept?: JsonValue;
  /** Peculiarity of the end, as a part of a sentence about the model. */
  note?: string;
}

export interface ModelUsage {
  inputTokens: number;
  outputTokens: number;
}

/** Kind of an outage, as `retry.on` of a node names it. */
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
}

/**
 * Error of a model that gave no answer. `message` is safe for callers: it has the provider's reason, but no key and no
 * internals.
 */
export class ModelError extends PublicFault {
  override readonly name = 'ModelError';
  /** HTTP status, if the provider answered with an error. */
  readonly status: number | undefined;
  /**
   * True if another model may answer instead: after 429, 5xx, no connection, a timeout, or a truncated answer. False
   * for what the provider refuses: 400, 401, 403, or a withheld answer.
   */
  readonly fallback: boolean;
  /** Kind of the outage; absent if a repeated call would probably fail as well. */
  readonly outage: ModelOutage | undefined;
  /** Milliseconds that the provider asks to wait before the next call. */
  readonly retryAfter: number | undefined;

  constructor(message: string, options: ModelErrorOptions = {}) {
    super(briefText(message), { cause: options.cause });
    this.status = options.status;
    this.fallback = options.fallback === true;
    this.outage = options.outage;
    this.retryAfter = options.retryAfter;
  }

  override get kind(): FaultKind {
    return this.outage ?? 'failed';
  }
}
