import { useSyncExternalStore } from 'react';

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let now = Date.now();

/** Returns the current time in epoch milliseconds, updated every second. All components share one timer. */
export function useNow(): number {
  return useSyncExternalStore(subscribeToClock, () => now);
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
