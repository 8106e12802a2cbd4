import { Injectable } from '@nestjs/common';
import { CallerSlots } from '#libs/access';
import type { ModelUsage } from '#libs/models';
import { Metrics } from '#libs/service';

/** Maximum characters of a description. */
export const MOST_DESCRIPTION_CHARACTERS = 20_000;

/** Maximum tokens of one request, in its prompts and answers together. */
export const MOST_TOKENS = 100_000;

/** Maximum answers of the model: the first one, and two repairs. */
export const MOST_ATTEMPTS = 3;

/** Maximum concurrent requests of one caller, for each replica. */
const MOST_AT_A_TIME = 2;

/** Maximum concurrent requests of all callers of one tenant, for each replica. */
const MOST_OF_TENANT = 12;

/** Maximum concurrent requests of all callers, for each replica. */
const MOST_IN_PROCESS = 16;

/** Maximum milliseconds of a request. */
export const LONGEST_MS = 120_000;

/** Characters that count as one token if a provider does not count tokens. */
const TOKEN_CHARACTERS = 4;

/** Limits how many workflows models write at a time. */
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
