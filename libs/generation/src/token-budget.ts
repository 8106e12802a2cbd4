import type { ModelUsage } from '#libs/models';
import { MOST_TOKENS, TOKEN_CHARACTERS } from './generation-limits.js';

/** Tokens that one request has used: as its provider counts them, else estimated by characters. */
export class TokenBudget {
  private used = 0;
  private readonly counted: ModelUsage = { inputTokens: 0, outputTokens: 0 };

  /** Counts of the provider; 0 where it tells none. */
  get usage(): ModelUsage {
    return { ...this.counted };
  }

  /** True if a prompt of so many characters, and an answer to it, are within the limit. */
  hasRoomFor(characters: number): boolean {
    return this.used + tokensIn(characters) < MOST_TOKENS;
  }

  /** Returns the characters that an answer may have after a prompt of so many characters. */
  answerCharacters(prompt: number): number {
    return Math.max(0, (MOST_TOKENS - this.used) * TOKEN_CHARACTERS - prompt);
  }

  /** Adds one call. */
  add(prompt: number, answer: number, usage: ModelUsage | undefined): void {
    const tokens = usage ? usage.inputTokens + usage.outputTokens : 0;
    this.used += Math.max(tokens, tokensIn(prompt + answer));
    this.counted.inputTokens += usage?.inputTokens ?? 0;
    this.counted.outputTokens += usage?.outputTokens ?? 0;
  }
}

function tokensIn(characters: number): number {
  return Math.ceil(characters / TOKEN_CHARACTERS);
}
