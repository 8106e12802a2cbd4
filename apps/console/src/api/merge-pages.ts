/** The rows that are shown, and the token of the page after them; empty where there is none. */
export interface Rows<T> {
  rows: readonly T[];
  nextPageToken: string;
}

/** Rows and the page that follows them. A row that has moved there in the meantime is shown where it was. */
export function withNextPage<T>(shown: Rows<T>, page: Rows<T>, keyOf: (row: T) => string): Rows<T> {
  const known = new Set(shown.rows.map(keyOf));
  const rows = [...shown.rows, ...page.rows.filter((row) => !known.has(keyOf(row)))];
  return { rows, nextPageToken: page.nextPageToken };
}

/**
 * Rows after their first page was fetched anew: its rows, then those shown before that are not among them. Where the
 * two have nothing in common, rows are missing between them, and the first page stands alone.
 */
export function withFirstPage<T>(shown: Rows<T>, first: Rows<T>, keyOf: (row: T) => string): Rows<T> {
  const fresh = new Set(first.rows.map(keyOf));
  const older = shown.rows.filter((row) => !fresh.has(keyOf(row)));
  const overlaps = older.length < shown.rows.length;
  if (!overlaps || first.nextPageToken === '') return first;
  return {
    rows: [...first.rows, ...older],
    nextPageToken: older.length === 0 ? first.nextPageToken : shown.nextPageToken,
  };
}
