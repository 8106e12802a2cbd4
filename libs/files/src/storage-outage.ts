import { setTimeout as delay } from 'node:timers/promises';
import { ProblemError } from '#libs/http';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 15_000;
/** A storage that restarts, or moves, is back by then. */
const LONGEST_OUTAGE_MS = 5 * 60_000;

/**
 * Reads again while the storage of files, or the database, does not answer: for five minutes, with growing pauses.
 * @throws the signal's reason once it is aborted; the last failure once the time is over; at once a problem that is no 503
 */
export async function readThroughOutage<T>(
  read: () => Promise<T>,
  signal: AbortSignal,
  longestMs = LONGEST_OUTAGE_MS,
): Promise<T> {
  const deadline = performance.now() + longestMs;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return await read();
    } catch (error) {
      signal.throwIfAborted();
      if (isFinal(error) || performance.now() + pause > deadline) throw error;
    }
    await delay(pause, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

/** True if the file is gone, say. A content that breaks off in the middle is an error of its stream. */
function isFinal(error: unknown): boolean {
  return error instanceof ProblemError && error.status !== 503;
}
