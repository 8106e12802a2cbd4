/**
 * Sums over model calls, as the API reports them: the number of calls, their tokens and their cost in dollars. The sums
 * leave out calls with unknown tokens (`unreportedCalls`) or unknown cost (`unpricedCalls`).
 */
export interface ShownUsage {
  calls: number;
  unreportedCalls: number;
  unpricedCalls: number;
  inputTokens?: number;
  outputTokens?: number;
  cost?: string;
}

/** Text of a value that is not known. It is never shown as 0. */
const UNKNOWN = 'unknown';
const NUMBERS = new Intl.NumberFormat('en');

/**
 * Formats the number of input tokens: `1,200`; `1,200 + unknown` if some calls report no tokens; `unknown` if no call
 * does; `–` if there are no calls.
 */
export function inputText({ inputTokens, unreportedCalls }: ShownUsage): string {
  return withUnknown(inputTokens, unreportedCalls);
}

/** Formats the number of output tokens, as `inputText` does for input tokens. */
export function outputText({ outputTokens, unreportedCalls }: ShownUsage): string {
  return withUnknown(outputTokens, unreportedCalls);
}

/**
 * Formats a cost: `$0.0012`; `$0.0012 + unknown` if the cost of some calls is unknown; `unknown` if the cost of all
 * calls is; `–` if there are no calls.
 */
export function costText({ cost, unpricedCalls }: ShownUsage): string {
  if (cost === undefined) return unpricedCalls > 0 ? UNKNOWN : '–';
  return unpricedCalls > 0 ? `$${shortCost(cost)} + ${UNKNOWN}` : `$${shortCost(cost)}`;
}

/** Returns a line with the number of calls, and of the calls whose tokens or cost are unknown: shown on hover. */
export function usageText(usage: ShownUsage): string {
  const { calls, unreportedCalls, unpricedCalls } = usage;
  const unknown = [
    unreportedCalls > 0 ? `${unreportedCalls} without known tokens` : '',
    unpricedCalls > 0 ? `${unpricedCalls} without a known cost` : '',
  ].filter((text) => text !== '');
  return `${calls} calls of models${unknown.length > 0 ? `: ${unknown.join(', ')}` : ''}`;
}

function withUnknown(tokens: number | undefined, unreported: number): string {
  if (tokens === undefined) return unreported > 0 ? UNKNOWN : '–';
  return unreported > 0 ? `${NUMBERS.format(tokens)} + ${UNKNOWN}` : NUMBERS.format(tokens);
}

/** Maximum number of significant digits that are shown of a cost below one dollar. */
const DIGITS = 4;

/** Shortens an exact decimal number: to cents from one dollar on, otherwise to its first digits. */
function shortCost(cost: string): string {
  const value = Number(cost);
  if (value >= 1) return value.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  return value.toLocaleString('en', { maximumSignificantDigits: DIGITS, maximumFractionDigits: 12 });
}
