const FIRST_MS = 500;
const LAST_MS = 15_000;

/** Returns the milliseconds to wait after `failures` failed attempts: doubling, at most 15 s, spread by `random`. */
export function backoff(failures: number, random: number = Math.random()): number {
  const ceiling = Math.min(LAST_MS, FIRST_MS * 2 ** Math.max(0, failures - 1));
  return Math.round(ceiling / 2 + (ceiling / 2) * random);
}

/** Resolves after the time, or immediately when the signal aborts. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener('abort', done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
  });
}
