import { type LlmAnswer, LlmProvider, type LlmRequest } from './llm-provider.js';

/** The name that always asks for the built-in model. */
export const ECHO_MODEL = 'echo';

/** Answers with the Message it received, Part for Part. What runs where no LLM endpoint is configured. */
export class EchoLlm extends LlmProvider {
  override modelFor(): string {
    return ECHO_MODEL;
  }

  override async answer({ messages }: LlmRequest): Promise<LlmAnswer> {
    return { parts: messages.at(-1)?.parts ?? [] };
  }
}
