import { z } from 'zod';
import type { AuthMode } from './auth-config.js';

/** Limits of one caller at one replica; an absent limit does not apply. */
export interface LimitsConfig {
  /** Maximum number of requests within a period in milliseconds; all of them may arrive at once. */
  readonly rate?: { readonly requests: number; readonly perMs: number };
  /** Maximum number of concurrent requests. */
  readonly concurrency?: number;
  /** Maximum number of open streams. */
  readonly streams?: number;
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };
/** Default far above what one client needs, and below what overloads a replica. */
const DEFAULT_CONCURRENCY = 1_000;
const DEFAULT_STREAMS = 1_000;
const MOST = 1_000_000_000;
/** Minimum: a page of the console opens a few subscriptions. */
const LEAST_SUBSCRIPTIONS = 8;
/** Maximum: each subscription may hold a page of the log in memory. */
const MOST_SUBSCRIPTIONS = 1_000;

const rate = z
  .string()
  .refine((text) => text === 'off' || readRate(text) !== undefined, 'must be a rate such as 100/s, 6000/m, or off')
  .transform(readRate);

const count = z
  .string()
  .refine((text) => text === 'off' || readCount(text) !== undefined, 'must be a number from 1 on, or off')
  .transform((text) => readCount(text) ?? ('off' as const));

/** Environment variables of `LimitsConfig`. */
export const LIMIT_VARIABLES = {
  RATE_LIMIT: rate.optional(),
  CONCURRENCY_LIMIT: count.optional(),
  STREAM_LIMIT: count.optional(),
  SUBSCRIPTION_LIMIT: z
    .string()
    .refine(
      (text) => isSubscriptionLimit(Number(text)),
      `must be a number from ${LEAST_SUBSCRIPTIONS} to ${MOST_SUBSCRIPTIONS}`,
    )
    .transform(Number)
    .default(32),
};

interface CallerLimitValues {
  RATE_LIMIT?: LimitsConfig['rate'];
  CONCURRENCY_LIMIT?: number | 'off';
  STREAM_LIMIT?: number | 'off';
}

/**
 * Returns the limits of callers. Anonymous callers are distinguished only by their address, which many may share behind
 * a proxy. Defaults therefore apply only if callers authenticate.
 */
export function limitsOf(values: CallerLimitValues, mode: AuthMode): LimitsConfig {
  const limitOrDefault = (value: number | 'off' | undefined, standard: number): number | undefined =>
    value === 'off' ? undefined : (value ?? (mode === 'none' ? undefined : standard));
  return {
    rate: values.RATE_LIMIT,
    concurrency: limitOrDefault(values.CONCURRENCY_LIMIT, DEFAULT_CONCURRENCY),
    streams: limitOrDefault(values.STREAM_LIMIT, DEFAULT_STREAMS),
  };
}

function readRate(text: string): LimitsConfig['rate'] {
  const match = /^(\d{1,9})(?:\/([smh]))?$/.exec(text);
  const requests = Number(match?.[1] ?? 0);
  return requests > 0 ? { requests, perMs: UNITS[match?.[2] ?? 's']! } : undefined;
}

function isSubscriptionLimit(number: number): boolean {
  return Number.isInteger(number) && number >= LEAST_SUBSCRIPTIONS && number <= MOST_SUBSCRIPTIONS;
}

function readCount(text: string): number | undefined {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  return number >= 1 && number <= MOST ? number : undefined;
}
