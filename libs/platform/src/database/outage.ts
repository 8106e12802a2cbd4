import { setTimeout as delay } from 'node:timers/promises';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/** PostgreSQL classes 08 (connection), 57P (shutdown, crash), 53 (resources); and failures of the socket or the pool. */
export function isOutage(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError) return false;
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code === 'string' && code.length === 5 && !code.startsWith('E')) {
    return code.startsWith('08') || code.startsWith('57P') || code.startsWith('53');
  }
  return true;
}

/**
 * Does again what failed because the database was out of reach, until it is back. For statements that may run twice.
 * @throws the signal's reason once it is aborted; any other error as it is
 */
export async function throughOutage<T>(statement: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return await statement();
    } catch (error) {
      signal.throwIfAborted();
      if (!isOutage(error)) throw error;
    }
    await delay(pause, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}
