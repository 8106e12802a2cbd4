import { useCallback, useEffect, useEffectEvent, useRef, useState } from 'react';
import { isTransient } from './problem.js';

export interface Resource<T> {
  /** The last good answer; it stays while a newer one is on its way. */
  data: T | undefined;
  error: unknown;
  loading: boolean;
  reload: () => void;
}

interface Settled<T> {
  key: string;
  round: number;
  data?: T | undefined;
  error?: unknown;
}

/** How long after a first load that failed it is tried again, in milliseconds; the last one from then on. */
const PAUSES = [1_000, 2_000, 5_000, 10_000];

/**
 * What a function fetches, again whenever the key changes or `reload` is called. What was fetched for another key is
 * never shown. Where nothing could be fetched yet for a reason that passes, it tries again by itself.
 */
export function useResource<T>(key: string, fetcher: (signal: AbortSignal) => Promise<T>): Resource<T> {
  const [settled, setSettled] = useState<Settled<T>>();
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
