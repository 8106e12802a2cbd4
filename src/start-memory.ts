import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const LOOK_MS = 1000;
/** Of the time since the last look. */
const QUIET = 0.1;

type CollectGarbage = (how: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

/**
 * Gives back what only the start needed, a quarter of what the process takes, in the first second in which there is little
 * to do: nothing else would look through what is old before the heap has doubled. It is soon, because what was compiled
 * by then is given back too, and the sooner, the less of it is in use.
 */
export function returnStartMemory(): void {
  let seen = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, seen);
    seen = now;
    if (utilization > QUIET) return;
    clearInterval(timer);
    // What is exposed from now on is seen by contexts made from now on.
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as CollectGarbage;
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  }, LOOK_MS);
  timer.unref();
}
