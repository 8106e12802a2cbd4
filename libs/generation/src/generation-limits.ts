import { Injectable } from '@nestjs/common';
import { CallerSlots } from '#libs/access';
import type { ModelUsage } from '#libs/models';
import { Metrics } from '#libs/service';

/** Maximum number of characters of a description. */
export const MOST_DESCRIPTION_CHARACTERS = 20_000;

/** Maximum number of tokens that all prompts and answers of one request may use together. */
export const MOST_TOKENS = 100_000;

/** Maximum number of answers of the model for one request: the first answer, and two repairs. */
export const MOST_ATTEMPTS = 3;

/** Maximum number of concurrent requests of one caller, for each replica. */
const MOST_AT_A_TIME = 2;

/** Maximum number of concurrent requests of all callers of one tenant, for each replica. */
const MOST_OF_TENANT = 12;

/** Maximum number of concurrent requests of all callers, for each replica. */
const MOST_IN_PROCESS = 16;

/** Time limit of a request, in milliseconds. */
export const LONGEST_MS = 120_000;

/** Number of characters that are estimated as one token. */
const TOKEN_CHARACTERS = 4;

/** Limits the concurrent requests to generate workflows: of a caller, of a tenant, and of this replica. */
@Injectable()
export class GenerationSlots extends CallerSlots {
  constructor(metrics: Metrics) {
    super(metrics, {
      most: { caller: MOST_AT_A_TIME, tenant: MOST_OF_TENANT, service: MOST_IN_PROCESS },
      refusals: {
        caller: `A caller may have ${MOST_AT_A_TIME} workflows written at a time`,
        tenant: `The callers of a tenant may have ${MOST_OF_TENANT} workflows written at a time`,
        service: 'Too many workflows are being written',
      },
      limit: 'generations',
      retryAfterSeconds: 5,
      metrics: {
        taken: { name: 'parley_generations', help: 'Workflows that models write at the moment' },
        refused: {
          name: 'parley_generations_refused_total',
          help: 'Descriptions refused because too many workflows are being written',
        },
      },
    });
  }
}

/**
 * Counts the tokens that one request has used. For each call, the number that the provider reports counts, or the
 * estimate from the number of characters if that is larger.
 */
export class TokenBudget {
  private used = 0;
  private readonly counted: ModelUsage = { inputTokens: 0, outputTokens: 0 };

  /** Tokens that the provider has reported; 0 if it reports none. Estimates are not included. */
  get usage(): ModelUsage {
    return { ...this.counted };
  }

  /** True if the budget leaves room for an answer after a prompt of this number of characters. */
  hasRoomFor(characters: number): boolean {
    return this.used + tokensIn(characters) < MOST_TOKENS;
  }

  /** Returns the maximum number of characters of an answer after a prompt of `prompt` characters. */
  answerCharacters(prompt: number): number {
    return Math.max(0, (MOST_TOKENS - this.used) * TOKEN_CHARACTERS - prompt);
  }

  /** Adds one call: the characters of its prompt and its answer, and the tokens that the provider reports. */
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
