const FIRST_MS = 500;
const LAST_MS = 15_000;

/**
 * Returns the milliseconds to wait before a retry, after `failures` failed attempts in a row. The maximum wait starts
 * at 500 ms and doubles with each failure, up to 15 s. The result is between half of the maximum (`random` 0) and the
 * maximum (`random` 1).
 */
export function computeBackoff(failures: number, random: number = Math.random()): number {
  const ceiling = Math.min(LAST_MS, FIRST_MS * 2 ** Math.max(0, failures - 1));
  return Math.round(ceiling / 2 + (ceiling / 2) * random);
}

/** Resolves after a time, or immediately when the signal aborts. */
export function pauseFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(finishPause, milliseconds);
    signal.addEventListener('abort', finishPause, { once: true });
    function finishPause(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', finishPause);
      resolve();
    }
  });
}
