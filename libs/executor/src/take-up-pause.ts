const LONGEST_PAUSE_MS = 60_000;
/** Longest pause after an error that does not pass by itself. */
const LONGEST_LASTING_PAUSE_MS = 60 * 60_000;

/**
 * Returns the milliseconds before the next attempt to adopt a Task: twice as many after each failure, up to a limit.
 */
export function takeUpPause(failures: number, firstMs: number, lasting: boolean): number {
  return Math.min(firstMs * 2 ** (failures - 1), lasting ? LONGEST_LASTING_PAUSE_MS : LONGEST_PAUSE_MS);
}
