import type { JsonObject, Part } from '#libs/protocol';

export interface LlmMessage {
  role: 'system' | 'user' | 'assistant';
  parts: Part[];
}

export interface LlmRequest {
  /** Absent: the configured default. */
  model: string | undefined;
  /** The conversation so far; the last one is the Message to answer. */
  messages: LlmMessage[];
  signal: AbortSignal;
}

export interface LlmAnswer {
  parts: Part[];
  /** Counts of tokens, where the provider tells them. */
  usage?: JsonObject;
}

/** Answers a conversation. */
export abstract class LlmProvider {
  /** The name of the model that would answer a request for one. */
  abstract modelFor(model: string | undefined): string;

  /** @throws NodeFailure where the model cannot answer */
  abstract answer(request: LlmRequest): Promise<LlmAnswer>;
}
