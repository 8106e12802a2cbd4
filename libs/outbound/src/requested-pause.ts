/** Upper limit of a pause: ten thousand years, in milliseconds. */
const ENDLESS = 3.2e14;

/**
 * Returns the pause that a `Retry-After` requests (RFC 9110, section 10.2.3), in milliseconds; `undefined` if it is
 * invalid.
 */
export function requestedPause(retryAfter: string | undefined): number | undefined {
  if (retryAfter === undefined) return undefined;
  if (/^\d+$/.test(retryAfter)) return Math.min(Number(retryAfter) * 1_000, ENDLESS);
  const pause = Date.parse(retryAfter) - Date.now();
  return Number.isNaN(pause) ? undefined : Math.max(0, pause);
}
