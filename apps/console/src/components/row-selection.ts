import { useRef, useState } from 'react';

/** Rows of a table that a person selected. */
export interface RowSelection<T> {
  /** Selected rows that are shown, in the order of the table. */
  selected: readonly T[];
  isSelected: (row: T) => boolean;
  /** Selects or deselects a row. @param isRange true to include all rows between the last toggled row and this one */
  toggleRow: (row: T, isRange: boolean) => void;
  /** Selects all rows that are shown, at most `most`, or ends the selection if all are selected. */
  toggleAll: () => void;
  clearSelection: () => void;
}

/**
 * Keeps the selection of a table. A row that is no longer shown is not selected.
 * @param most maximum number of rows that can be selected
 */
export function useRowSelection<T>(rows: readonly T[], keyOf: (row: T) => string, most: number): RowSelection<T> {
  const [keys, setKeys] = useState<ReadonlySet<string>>(() => new Set());
  const anchor = useRef<string>(undefined);
  const selected = keys.size === 0 ? [] : rows.filter((row) => keys.has(keyOf(row)));
  const selectKeys = (wanted: Iterable<string>): void => setKeys(new Set([...wanted].slice(0, most)));
  const toggleRow = (row: T, isRange: boolean): void => {
    const shown = rows.map(keyOf);
    const [from, to] = [shown.indexOf(isRange ? (anchor.current ?? '') : ''), shown.indexOf(keyOf(row))];
    const span = from < 0 ? [keyOf(row)] : shown.slice(Math.min(from, to), Math.max(from, to) + 1);
    anchor.current = keyOf(row);
    const next = new Set(selected.map(keyOf));
    const isOn = next.has(keyOf(row));
    for (const key of span)
      if (isOn) next.delete(key);
      else next.add(key);
    selectKeys(next);
  };
  const isAll = selected.length > 0 && selected.length >= Math.min(rows.length, most);
  return {
    selected,
    isSelected: (row) => keys.has(keyOf(row)),
    toggleRow,
    toggleAll: () => selectKeys(isAll ? [] : rows.map(keyOf)),
    clearSelection: () => selectKeys([]),
  };
}
