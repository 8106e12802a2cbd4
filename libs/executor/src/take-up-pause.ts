const LONGEST_PAUSE_MS = 60_000;
/** For what does not pass by itself. */
const LONGEST_LASTING_PAUSE_MS = 60 * 60_000;

/** Milliseconds until a Task is tried again that could not be taken up so often: twice as many each time. */
export function takeUpPause(failures: number, firstMs: number, lasting: boolean): number {
  return Math.min(firstMs * 2 ** (failures - 1), lasting ? LONGEST_LASTING_PAUSE_MS : LONGEST_PAUSE_MS);
}
