import { setTimeout as delay } from 'node:timers/promises';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/**
 * What may succeed when it is done again: PostgreSQL classes 08 (connection), 57P (shutdown, crash), 53 (resources), 40
 * (rolled back for another transaction's sake); and failures of the socket or the pool.
 */
export function isOutage(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError) return false;
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code === 'string' && code.length === 5 && !code.startsWith('E')) {
    return ['08', '57P', '53', '40'].some((it) => code.startsWith(it));
  }
  return true;
}

/** Whether PostgreSQL rolled a transaction back so that another one could go on (class 40: deadlocks). */
export function isRolledBack(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^40...$/.test(code);
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
