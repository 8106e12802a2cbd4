import type { JsonObject, JsonValue, Part } from '#libs/protocol';

/** A model that answers conversations. It runs no tool and asks nothing twice: each `stream` is one call of a provider. */
export interface Model {
  /** As nodes, events and metrics say it. */
  readonly name: string;
  /** The media types of Parts that it takes, such as `text/plain` or `image/*`; text and data are among them always. */
  readonly inputModes: readonly string[];
  /** Whose model it is, such as `openai-compatible`; absent for one that needs no provider. */
  readonly provider?: string;
  /**
   * One answer, as it comes; the last event is the only `end`. Whoever stops before it ends the call.
   * @throws ModelError where there is no answer, or no whole one; the signal's reason where that aborts
   */
  stream(call: ModelCall): AsyncIterable<ModelEvent>;
}

export interface ModelCall {
  /** The conversation so far, JSON throughout; the last message is the one to answer. */
  messages: readonly ModelMessage[];
  tools?: readonly ModelTool[];
  temperature?: number;
  /** The most tokens that the answer may have; an answer that the provider cuts there is none. */
  maxTokens?: number;
  /** A JSON Schema: the answer's text is asked to be one JSON document that it accepts. Nobody checks that here. */
  output?: JsonObject;
  /** True if the messages have the schema in words already. */
  isOutputDescribed?: boolean;
  /** Further headers of the provider's HTTP request. */
  headers?: Readonly<Record<string, string>>;
  /** Whose files of this service the model may read, where Parts name them by their URLs; absent: nobody's. */
  reader?: { readonly tenant: string; readonly owner: string };
  signal: AbortSignal;
}

export type ModelMessage =
  | { role: 'system'; parts: Part[] }
  | { role: 'user'; parts: Part[] }
  | AssistantMessage
  | { role: 'tool'; results: ToolResult[] };

/** What a model answered earlier. */
export interface AssistantMessage {
  role: 'assistant';
  parts: Part[];
  toolCalls?: ToolCall[];
  /** What `end` gave to keep; another provider's model goes by the other members. */
  kept?: JsonValue;
}

/** A tool that a model may ask for. */
export interface ModelTool {
  /** As it stands on the wire: letters, digits, `_` and `-`, at most 64. */
  name: string;
  description?: string;
  /** A JSON Schema of an object. */
  inputSchema: JsonObject;
}

export interface ToolCall {
  id: string;
  name: string;
  args: JsonObject;
  /** What the model said in place of a JSON object; `args` is empty then. */
  malformed?: string;
}

/** What came of a call: either `result` or `error`. */
export interface ToolResult {
  /** That of the call. */
  id: string;
  name: string;
  result?: JsonValue;
  error?: string;
}

export type ModelEvent =
  /** A piece of the answer's text. */
  | { text: string }
  /** A Part that is no text. */
  | { part: Part }
  /** A whole call, once its last piece has come. */
  | { toolCall: ToolCall }
  | { end: ModelEnd };

export interface ModelEnd {
  /** Why the answer ended, which is whole: `other` is a word that only its endpoint knows. */
  reason: 'stop' | 'tool-calls' | 'other';
  /** Counts of tokens, where the provider tells them. */
  usage?: ModelUsage;
  /** What this provider wants back with this answer in later calls, such as signatures of its thoughts. */
  kept?: JsonValue;
  /** Oddity of the end, as a part of a sentence about the model. */
  note?: string;
}

export interface ModelUsage {
  inputTokens: number;
  outputTokens: number;
}
