import type { ModelUsage } from '#libs/models';
import { MOST_TOKENS, TOKEN_CHARACTERS } from './generation-limits.js';

/** Tokens that one request has used, as its provider counts them, else estimated from characters. */
export class TokenBudget {
  private used = 0;
  private readonly counted: ModelUsage = { inputTokens: 0, outputTokens: 0 };

  /** Counts of the provider; 0 if it reports none. */
  get usage(): ModelUsage {
    return { ...this.counted };
  }

  /** True if a prompt of this many characters leaves room for an answer. */
  hasRoomFor(characters: number): boolean {
    return this.used + tokensIn(characters) < MOST_TOKENS;
  }

  /** Returns the maximum characters of an answer after a prompt of this many characters. */
  answerCharacters(prompt: number): number {
    return Math.max(0, (MOST_TOKENS - this.used) * TOKEN_CHARACTERS - prompt);
  }

  /** Adds the usage of one call. */
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
