import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Matches } from 'class-validator';
import { ApiClosed, IfGiven } from '#libs/http-server';
import { isJsonObject, withoutTrailing } from '#libs/protocol';
import type { ModelUsage } from './model.js';

type ReportedUsage = Extract<LanguageModelV4StreamPart, { type: 'finish' }>['usage'];

/** Form of a price: a decimal number below ten million with at most six decimals, in plain notation. */
const PRICE = /^\d{1,7}(\.\d{1,6})?$/;
const PRICE_FORM = 'must be a decimal number in quotes, such as "0.15", with at most 7 digits and 6 decimals';

/** Number of decimals of a price. A price is for a million tokens, so a cost has six decimals more. */
const PRICE_DECIMALS = 6;
const COST_DECIMALS = 12;

/** Prices of a model for a million tokens in US dollars, as decimal numbers. */
@ApiClosed()
export class ModelPrice {
  static readonly unknown = 'is not a field of a price';

  @ApiProperty({ pattern: PRICE.source, description: 'US dollars for a million input tokens.', example: '0.25' })
  @Matches(PRICE, { message: PRICE_FORM })
  input!: string;

  @ApiProperty({ pattern: PRICE.source, description: 'US dollars for a million output tokens.', example: '2' })
  @Matches(PRICE, { message: PRICE_FORM })
  output!: string;

  @ApiPropertyOptional({
    pattern: PRICE.source,
    description: "US dollars for a million input tokens from the provider's cache; default: the price of `input`.",
    example: '0.025',
  })
  @IfGiven()
  @Matches(PRICE, { message: PRICE_FORM })
  cachedInput?: string;

  @ApiPropertyOptional({
    pattern: PRICE.source,
    description:
      "US dollars for a million input tokens that are written to the provider's cache; default: 1.25 times the price " +
      'of `input`.',
    example: '0.3125',
  })
  @IfGiven()
  @Matches(PRICE, { message: PRICE_FORM })
  cacheWrite?: string;
}

/** Converts a price, which may be an instance of the class ModelPrice, to a plain object for storage as JSON. */
export function toPlainPrice({ input, output, cachedInput, cacheWrite }: ModelPrice): ModelPrice {
  return {
    input,
    output,
    ...(cachedInput !== undefined && { cachedInput }),
    ...(cacheWrite !== undefined && { cacheWrite }),
  };
}

/**
 * Returns the exact cost of a call in US dollars, as a decimal number without trailing zeros. Reasoning tokens cost as
 * output tokens, of which they are a part.
 */
export function costOf(usage: Omit<ModelUsage, 'cost'>, price: ModelPrice): string {
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteInputTokens = 0 } = usage;
  const { input, output, cachedInput = input } = price;
  const cost =
    BigInt(inputTokens - cachedInputTokens - cacheWriteInputTokens) * priceUnits(input) +
    BigInt(cachedInputTokens) * priceUnits(cachedInput) +
    costOfCacheWrites(BigInt(cacheWriteInputTokens), price) +
    BigInt(outputTokens) * priceUnits(output);
  const digits = cost.toString().padStart(COST_DECIMALS + 1, '0');
  const decimals = withoutTrailing(digits.slice(-COST_DECIMALS), '0');
  return `${digits.slice(0, -COST_DECIMALS)}${decimals && `.${decimals}`}`;
}

/**
 * Returns the cost of tokens that are written to a cache. Providers that report such tokens (Anthropic, and OpenAI from
 * GPT-5.6) charge 1.25 times the price of input for them.
 */
function costOfCacheWrites(tokens: bigint, { input, cacheWrite }: ModelPrice): bigint {
  if (cacheWrite !== undefined) return tokens * priceUnits(cacheWrite);
  return (tokens * priceUnits(input) * 5n + 3n) / 4n;
}

/**
 * Returns the number of tokens that the provider reports, with their cost if the model has a price. Returns `undefined`
 * if the provider reports no number, or an impossible one, such as a negative number.
 */
export function usageOf(
  { inputTokens: input, outputTokens: output, raw }: ReportedUsage,
  price: ModelPrice | undefined,
): ModelUsage | undefined {
  if (input.total === undefined && output.total === undefined) return undefined;
  const [inputTokens, outputTokens] = [input.total ?? 0, output.total ?? 0];
  if (!isTokenCount(inputTokens) || !isTokenCount(outputTokens)) return undefined;
  const cached = partOf(input.cacheRead, inputTokens);
  const cacheWrite = partOf(input.cacheWrite ?? compatibleCacheWrites(raw), inputTokens - cached);
  const reasoning = partOf(output.reasoning, outputTokens);
  const tokens = {
    inputTokens,
    outputTokens,
    ...(cached > 0 && { cachedInputTokens: cached }),
    ...(cacheWrite > 0 && { cacheWriteInputTokens: cacheWrite }),
    ...(reasoning > 0 && { reasoningTokens: reasoning }),
  };
  return { ...tokens, ...(price && { cost: costOf(tokens, price) }) };
}

/**
 * Returns the number of tokens that a compatible endpoint reports as written to its cache, which the provider package
 * drops: `prompt_tokens_details.cache_write_tokens` (OpenAI, OpenRouter) or `cache_creation_input_tokens` (LiteLLM).
 */
function compatibleCacheWrites(raw: ReportedUsage['raw']): number | undefined {
  const details = raw?.['prompt_tokens_details'];
  const written = isJsonObject(details) ? details['cache_write_tokens'] : undefined;
  const count = written ?? raw?.['cache_creation_input_tokens'];
  return typeof count === 'number' ? count : undefined;
}

/**
 * Returns `count`, a number of tokens that is part of `total`; 0 if `count` is absent, invalid or greater than `total`.
 */
function partOf(count: number | undefined, total: number): number {
  return count !== undefined && isTokenCount(count) && count <= total ? count : 0;
}

/** Returns a price in units of a millionth of a dollar. */
function priceUnits(price: string): bigint {
  const [whole = '', decimals = ''] = price.split('.');
  return BigInt(whole + decimals.padEnd(PRICE_DECIMALS, '0'));
}

/** Maximum number of tokens of one call; a provider that reports more reports nonsense. */
const MOST_TOKENS = 1_000_000_000;

/** True if a number that a provider reports can be the number of tokens of a call. */
export function isTokenCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0 && value <= MOST_TOKENS;
}
