import { performance } from 'node:perf_hooks';

/** Utilization from which on the event loop is busy: waiting requests would notice more work. */
const BUSY = 0.75;
/** Minimum milliseconds over which the utilization is measured. */
const WINDOW_MS = 100;

/**
 * Returns a function that tells whether the event loop is busy: true if it worked for at least 75 % of the last
 * measured period. A period lasts 100 milliseconds, or longer if the function is called less often.
 */
export function watchLoopLoad(): () => boolean {
  let start = performance.eventLoopUtilization();
  let measuredAt = performance.now();
  let isBusy = false;
  return () => {
    const now = performance.now();
    if (now < measuredAt + WINDOW_MS) return isBusy;
    const end = performance.eventLoopUtilization();
    isBusy = performance.eventLoopUtilization(end, start).utilization >= BUSY;
    start = end;
    measuredAt = now;
    return isBusy;
  };
}
