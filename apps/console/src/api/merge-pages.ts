/** The rows shown, and the token of the next page; empty if no page follows. */
export interface Rows<T> {
  rows: readonly T[];
  nextPageToken: string;
}

/** Appends the next page. A row that has moved to the next page stays where it was. */
export function withNextPage<T>(shown: Rows<T>, page: Rows<T>, keyOf: (row: T) => string): Rows<T> {
  const known = new Set(shown.rows.map(keyOf));
  const rows = [...shown.rows, ...page.rows.filter((row) => !known.has(keyOf(row)))];
  return { rows, nextPageToken: page.nextPageToken };
}

/**
 * Replaces the first page: its rows come first, then the earlier rows that it lacks.
 * If the two share no row, rows are missing between them, and only the first page is kept.
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
