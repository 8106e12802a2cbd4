import { setTimeout as delay } from 'node:timers/promises';
import { ProblemError } from '#libs/http';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 15_000;
/** Maximum milliseconds of an outage: a restart or move of the storage takes less. */
const LONGEST_OUTAGE_MS = 5 * 60_000;

/**
 * Retries a read while the storage of files, or the database, does not answer: for five minutes, with growing pauses.
 * @throws the signal's reason once it is aborted; the last failure after the timeout; any problem but 503 at once
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

/** True if a retry is futile, such as for a deleted file. A content that breaks off is an error of its stream. */
function isFinal(error: unknown): boolean {
  return error instanceof ProblemError && error.status !== 503;
}
