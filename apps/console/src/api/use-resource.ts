import { useCallback, useEffect, useEffectEvent, useState } from 'react';

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

/**
 * What a function fetches, again whenever the key changes or `reload` is called. What was fetched for another key is
 * never shown.
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
  return { data: current?.data, error: current?.error, loading: current?.round !== round, reload };
}
