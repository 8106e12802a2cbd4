import { type QueryKey, replaceEqualDeep, useQuery } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { queries } from './queries.js';

/** Rows of a list, and the token of the next page. The token is empty if no page follows. */
export interface Rows<T> {
  rows: readonly T[];
  nextPageToken: string;
}

export interface Pages<T> {
  /** Rows of all pages so far; `undefined` until the first page has arrived. */
  rows: readonly T[] | undefined;
  error: Error | null;
  loading: boolean;
  /** True if more rows follow. */
  more: boolean;
  /** Fetches the next page. Does nothing while a page is loading, or after a load failed. */
  loadMore: () => void;
}

/**
 * Fetches a list page by page. A refetch of the query fetches the first page only; rows of later pages stay.
 * @param keyOf returns the id of a row
 * @param placeOf returns a text that orders the rows: a later row has a smaller text. With it, rows that have left the
 * list are dropped at a refetch. Absent if rows never leave the list
 */
export function usePages<T>(
  queryKey: QueryKey,
  keyOf: (row: T) => string,
  fetchPage: (token: string | undefined, signal: AbortSignal) => Promise<Rows<T>>,
  placeOf?: (row: T) => string,
): Pages<T> {
  const first = useQuery({
    queryKey,
    // It would compare each row that is shown whenever a page arrives. withFirstPage compares those that may differ.
    structuralSharing: false,
    queryFn: async ({ signal }) => {
      const page = await fetchPage(undefined, signal);
      const shown = queries.getQueryData<Rows<T>>(queryKey);
      return shown ? withFirstPage(shown, page, keyOf, placeOf) : page;
    },
  });
  const token = first.data?.nextPageToken ?? '';
  const [asked, setAsked] = useState('');
  const next = useQuery({
    queryKey: [...queryKey, 'page', token],
    enabled: token !== '' && token === asked,
    structuralSharing: false,
    queryFn: async ({ signal }) => {
      const page = await fetchPage(token, signal);
      queries.setQueryData<Rows<T>>(queryKey, (shown) =>
        // A refetch may have changed the row after which this page begins.
        shown?.nextPageToken === token ? withNextPage(shown, page, keyOf) : shown,
      );
      return page;
    },
  });
  return {
    rows: first.data?.rows,
    error: first.failureReason ?? next.failureReason,
    loading: first.isFetching || next.isFetching,
    more: token !== '',
    loadMore: useCallback(() => setAsked(token), [token]),
  };
}

/** Appends the next page to the shown rows. A row of the next page that is already shown stays where it is. */
export function withNextPage<T>(shown: Rows<T>, page: Rows<T>, keyOf: (row: T) => string): Rows<T> {
  const known = new Set(shown.rows.map(keyOf));
  const rows = [...shown.rows, ...page.rows.filter((row) => !known.has(keyOf(row)))];
  return { rows, nextPageToken: page.nextPageToken };
}

/**
 * Returns the rows to show after a refetch of the first page: the rows of `first`, then the shown rows that come after
 * them.
 * - A shown row that `first` lacks, although `placeOf` places it before the end of `first`, has left the list and is
 *   dropped.
 * - If `first` and the shown rows have no row in common, rows may be missing between them: only `first` is returned.
 * - A row of `first` that equals the shown one is the same object, so that it is not drawn again.
 */
export function withFirstPage<T>(
  shown: Rows<T>,
  first: Rows<T>,
  keyOf: (row: T) => string,
  placeOf: (row: T) => string = () => '',
): Rows<T> {
  const before = new Map(shown.rows.map((row) => [keyOf(row), row]));
  const rows = first.rows.map((row) => replaceEqualDeep(before.get(keyOf(row)), row));
  const last = rows.at(-1);
  if (last === undefined || first.nextPageToken === '') return { ...first, rows };
  const fresh = new Set(rows.map(keyOf));
  const others = shown.rows.filter((row) => !fresh.has(keyOf(row)));
  if (others.length === shown.rows.length) return { ...first, rows };
  const older = others.filter((row) => placeOf(row) <= placeOf(last));
  return {
    rows: [...rows, ...older],
    nextPageToken: older.length === 0 ? first.nextPageToken : shown.nextPageToken,
  };
}
