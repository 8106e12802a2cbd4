import { useSyncExternalStore } from 'react';

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let now = Date.now();

/** Returns the current time in epoch milliseconds, updated every second. All components share one timer. */
export function useNow(): number {
  return useSyncExternalStore(subscribeToClock, () => now);
}

/**
 * Returns a text about the current time. The component renders again only when the text changes: a list of old times
 * stands still.
 * @param textAt returns the text at a time in epoch milliseconds
 */
export function useClockText(textAt: (now: number) => string): string {
  return useSyncExternalStore(subscribeToClock, () => textAt(now));
}

function subscribeToClock(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(updateNow, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function updateNow(): void {
  now = Date.now();
  for (const listener of listeners) listener();
}
