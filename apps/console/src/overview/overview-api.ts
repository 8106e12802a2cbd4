import type { Schemas } from '#libs/client';
import { getJson } from '../api/http.js';

/** Overview of the caller's runs in a range of time. */
export type Overview = Schemas['Overview'];
export type UsageReport = Schemas['UsageReport'];
export type FailureCause = Overview['failures'][number];
export type WorkflowLine = Overview['workflows'][number];
export type Waits = Overview['waiting']['questions'];

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Ranges of time, by the word that names them in the address. */
export const RANGES = {
  '1h': { label: 'Last hour', before: 'in the hour before', ms: HOUR_MS },
  '24h': { label: 'Last 24 hours', before: 'in the 24 hours before', ms: DAY_MS },
  '7d': { label: 'Last 7 days', before: 'in the 7 days before', ms: 7 * DAY_MS },
  '30d': { label: 'Last 30 days', before: 'in the 30 days before', ms: 30 * DAY_MS },
} as const;

export type RangeName = keyof typeof RANGES;

/** Returns the range that an address names: the last 24 hours for an unknown word. */
export function rangeOf(word: string | null): RangeName {
  return word !== null && Object.hasOwn(RANGES, word) ? (word as RangeName) : '24h';
}

export function getOverview(range: RangeName, signal: AbortSignal): Promise<Overview> {
  const since = new Date(Date.now() - RANGES[range].ms).toISOString();
  return getJson(`/api/overview?${new URLSearchParams({ since }).toString()}`, signal);
}

/** Properties that can group the calls of models. */
export const GROUPINGS = { workflow: 'Workflow', caller: 'Caller', model: 'Model', day: 'Day' } as const;

export type Grouping = keyof typeof GROUPINGS;

/** Returns the grouping that an address names: by workflow for an unknown word. */
export function groupingOf(word: string | null): Grouping {
  return word !== null && Object.hasOwn(GROUPINGS, word) ? (word as Grouping) : 'workflow';
}

/** Periods of a usage report by their word in the address, in days up to today (UTC). */
export const PERIODS = { '1': 'Today', '7': '7 days', '30': '30 days', '90': '90 days', '365': '365 days' } as const;

export type Period = keyof typeof PERIODS;

export function periodOf(word: string | null): Period {
  return word !== null && Object.hasOwn(PERIODS, word) ? (word as Period) : '30';
}

/**
 * Fetches the numbers of model calls, tokens and their cost, summed per group of `groupBy`.
 * @param isWholeTenant true to include the calls of all callers, which needs the scope `admin`
 */
export function getUsage(
  groupBy: Grouping,
  period: Period,
  isWholeTenant: boolean,
  signal: AbortSignal,
): Promise<UsageReport> {
  const since = new Date(Date.now() - (Number(period) - 1) * DAY_MS).toISOString().slice(0, 10);
  const query = { groupBy, since, callers: isWholeTenant ? 'all' : 'own' };
  return getJson(`/api/usage?${new URLSearchParams(query).toString()}`, signal);
}
