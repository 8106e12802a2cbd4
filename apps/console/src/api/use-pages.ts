import { useCallback, useEffect, useEffectEvent, useState } from 'react';
import { type Rows, withFirstPage, withNextPage } from './merge-pages.js';

export interface Pages<T> {
  /** Rows so far; `undefined` until the first page has arrived. */
  rows: readonly T[] | undefined;
  error: unknown;
  loading: boolean;
  /** True if more rows follow. */
  more: boolean;
  loadMore: () => void;
  /** Fetches the first page again; rows of later pages stay. */
  reload: () => void;
}

interface Wanted {
  key: string;
  round: number;
  /** Token of a later page; missing for the first page. */
  token?: string;
}

interface SettledPages<T> extends Partial<Rows<T>> {
  wanted: Wanted;
  error?: unknown;
}

/**
 * Fetches a list page by page. Rows fetched for another key are never shown.
 * @param keyOf must be the same function in every render
 */
export function usePages<T>(
  key: string,
  keyOf: (row: T) => string,
  fetchPage: (token: string | undefined, signal: AbortSignal) => Promise<Rows<T>>,
): Pages<T> {
  const [asked, setAsked] = useState<Wanted>({ key, round: 0 });
  const [settled, setSettled] = useState<SettledPages<T>>();
  const wanted = asked.key === key ? asked : { key, round: 0 };
  const fetchLatest = useEffectEvent(fetchPage);
  const { round, token } = wanted;
  useEffect(() => {
    const stop = new AbortController();
    const at: Wanted = { key, round, ...(token !== undefined && { token }) };
    fetchLatest(token, stop.signal).then(
      (page) => stop.signal.aborted || setSettled((last) => ({ wanted: at, ...mergePage(last, page, at, keyOf) })),
      (error: unknown) => {
        if (stop.signal.aborted) return;
        setSettled((last) => ({ ...(last?.wanted.key === key ? last : {}), wanted: at, error }));
      },
    );
    return () => stop.abort();
  }, [key, keyOf, round, token]);
  const reload = useCallback(() => setAsked((last) => ({ key, round: last.round + 1 })), [key]);
  const current = settled?.wanted.key === key ? settled : undefined;
  const loading = current?.wanted.round !== round;
  const next = current?.nextPageToken ?? '';
  const loadMore = useCallback(() => setAsked((last) => ({ key, round: last.round + 1, token: next })), [key, next]);
  return {
    rows: current?.rows,
    error: current?.error,
    loading,
    more: next !== '',
    loadMore: loading || next === '' ? noMore : loadMore,
    reload,
  };
}

function mergePage<T>(
  last: SettledPages<T> | undefined,
  page: Rows<T>,
  { key, token }: Wanted,
  keyOf: (row: T) => string,
): Rows<T> {
  if (last?.wanted.key !== key || !last.rows) return page;
  const shown = { rows: last.rows, nextPageToken: last.nextPageToken ?? '' };
  return token === undefined ? withFirstPage(shown, page, keyOf) : withNextPage(shown, page, keyOf);
}

function noMore(): void {
  // A page is loading, or none follows.
}
