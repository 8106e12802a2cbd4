import { useCallback, useEffect, useEffectEvent, useRef, useState } from 'react';
import { isTransient } from './problem.js';

export interface Resource<T> {
  /** The last successful answer; it stays while a newer one is loading. */
  data: T | undefined;
  error: unknown;
  loading: boolean;
  reload: () => void;
}

interface SettledResource<T> {
  key: string;
  round: number;
  data?: T | undefined;
  error?: unknown;
}

/** Milliseconds before each retry of a failed first load; further retries use the last value. */
const PAUSES = [1_000, 2_000, 5_000, 10_000];

/**
 * Fetches a resource, and again whenever the key changes or `reload` is called.
 * - Data fetched for another key is never shown.
 * - As long as there is no data, transient failures are retried.
 */
export function useResource<T>(key: string, fetcher: (signal: AbortSignal) => Promise<T>): Resource<T> {
  const [settled, setSettled] = useState<SettledResource<T>>();
  const [round, setRound] = useState(0);
  const fetchLatest = useEffectEvent(fetcher);
  useEffect(() => {
    const stop = new AbortController();
    fetchLatest(stop.signal).then(
      (data) => stop.signal.aborted || setSettled({ key, round, data }),
      (error: unknown) => {
        if (stop.signal.aborted) return;
        setSettled((last) => ({ key, round, error, data: last?.key === key ? last.data : undefined }));
      },
    );
    return () => stop.abort();
  }, [key, round]);
  const reload = useCallback(() => setRound((count) => count + 1), []);
  const current = settled?.key === key ? settled : undefined;
  const failures = useRef(0);
  useEffect(() => {
    if (current === undefined || current.round !== round) return;
    if (current.data !== undefined || !isTransient(current.error)) {
      failures.current = 0;
      return;
    }
    const pause = PAUSES[Math.min(failures.current, PAUSES.length - 1)];
    failures.current += 1;
    const timer = setTimeout(reload, pause);
    return () => clearTimeout(timer);
  }, [current, round, reload]);
  return { data: current?.data, error: current?.error, loading: current?.round !== round, reload };
}
