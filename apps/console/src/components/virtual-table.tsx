import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, memo, useEffect, useRef } from 'react';
import type { Column } from './data-table.js';
import { RowCell } from './row-cell.js';
import type { RowSelection } from './row-selection.js';
import { useStableHandler } from './use-stable-handler.js';

export interface VirtualTableProps<T> {
  /** Name of the table for screen readers. */
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string;
  /** Returns the address of a row; its first cell links there. */
  hrefOf?: (row: T) => string;
  /** Called when the last rows come into view. */
  onEnd?: () => void;
  /** Adds a column with a checkbox for each row. */
  selection?: RowSelection<T> & { labelOf: (row: T) => string };
}

const ROW_HEIGHT = 44;
const OVERSCAN = 5;
/** Number of rows before the end where further rows are requested, so that fast scrolling meets no gap. */
const BEFORE_END = 15;

/** Shows a table of any length. It fills its container, scrolls, and draws only the rows in view. */
export function VirtualTable<T>({ label, columns, rows, keyOf, hrefOf, onEnd, selection }: VirtualTableProps<T>) {
  const box = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
  });
  const items = virtualizer.getVirtualItems();
  const first = items[0];
  const last = items.at(-1);
  const atEnd = last !== undefined && last.index >= rows.length - BEFORE_END;
  useEffect(() => {
    if (atEnd) onEnd?.();
  }, [atEnd, onEnd]);
  const toggleRow = useStableHandler((row: T, isRange: boolean) => selection?.toggleRow(row, isRange));
  const choiceOf =
    selection && ((row: T) => ({ isSelected: selection.isSelected(row), label: selection.labelOf(row) }));
  return (
    <div ref={box} className="min-h-0 grow overflow-auto" tabIndex={0} role="region" aria-label={label}>
      <table aria-label={label} aria-rowcount={rows.length + 1} className="w-full table-fixed border-collapse text-sm">
        <thead className="sticky top-0 z-10 bg-card">
          <tr className="text-left text-xs text-muted-foreground shadow-[inset_0_-1px_var(--border)]">
            {selection && <SelectAll selection={selection} rows={rows.length} />}
            {columns.map(({ title, wideOnly, className = '' }) => (
              <th
                key={title}
                scope="col"
                className={`py-2 font-medium ${getCellClass(wideOnly, selection !== undefined)} ${className}`}
              >
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Gap height={first?.start ?? 0} />
          {items.map(({ index }) => {
            const row = rows[index] as T;
            const shown = { row, index, columns, href: hrefOf?.(row), ...choiceOf?.(row) };
            return <TableRow key={keyOf(row)} {...shown} onToggle={toggleRow} />;
          })}
          <Gap height={virtualizer.getTotalSize() - (last?.end ?? 0)} />
        </tbody>
      </table>
    </div>
  );
}

/** Values of a row that decide whether it is rendered again. */
interface TableRowProps<T> extends Pick<VirtualTableProps<T>, 'columns'> {
  row: T;
  index: number;
  href: string | undefined;
  /** True if the row's checkbox is checked; absent if rows have no checkbox. */
  isSelected?: boolean;
  /** Name of the checkbox. */
  label?: string;
  onToggle: (row: T, isRange: boolean) => void;
}

function TableRowView<T>({ row, index, columns, href, isSelected, label, onToggle }: TableRowProps<T>) {
  const isSelectable = isSelected !== undefined;
  return (
    <tr aria-rowindex={index + 2} className="relative h-11 border-b hover:bg-muted/60">
      {isSelectable && <SelectRow {...{ index, isSelected, label }} onToggle={(isRange) => onToggle(row, isRange)} />}
      {columns.map(({ title, cell, wideOnly, className = '' }, column) => (
        <td key={title} className={`truncate ${getCellClass(wideOnly, isSelectable)} ${className}`}>
          <RowCell row={row} cell={cell} href={column === 0 ? href : undefined} />
        </td>
      ))}
    </tr>
  );
}

/** Shows a row. While the table scrolls or grows, only the rows that come into view are rendered. */
const TableRow = memo(TableRowView) as typeof TableRowView;

interface SelectRowProps {
  index: number;
  isSelected: boolean;
  label: string | undefined;
  onToggle: (isRange: boolean) => void;
}

/** Shows the checkbox of a row. The arrow keys lead to the checkboxes of its neighbors; Shift selects all between. */
function SelectRow({ index, isSelected, label, onToggle }: SelectRowProps) {
  const moveFocus = (event: KeyboardEvent<HTMLInputElement>): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = event.currentTarget.closest('tbody')?.querySelector<HTMLElement>(`[data-row="${index + step}"]`);
    next?.focus();
    next?.scrollIntoView({ block: 'nearest' });
    if (event.shiftKey && next) next.click();
  };
  return (
    <td className="relative z-1 w-11 p-0">
      <label className="flex h-10 w-11 items-center justify-center">
        <input
          type="checkbox"
          data-row={index}
          className="size-4"
          aria-label={label}
          checked={isSelected}
          onChange={({ nativeEvent }) => onToggle((nativeEvent as PointerEvent).shiftKey)}
          onKeyDown={moveFocus}
        />
      </label>
    </td>
  );
}

function SelectAll<T>({ selection, rows }: { selection: RowSelection<T>; rows: number }) {
  const count = selection.selected.length;
  return (
    <th scope="col" className="w-11 p-0">
      <label className="flex h-10 w-11 items-center justify-center">
        <input
          type="checkbox"
          className="size-4"
          aria-label="Select all rows that are loaded"
          checked={count > 0 && count === rows}
          ref={(box) => {
            if (box) box.indeterminate = count > 0 && count < rows;
          }}
          onChange={selection.toggleAll}
        />
      </label>
    </th>
  );
}

/** Fills the height of rows that are not drawn. */
function Gap({ height }: { height: number }) {
  if (height <= 0) return null;
  return <tr aria-hidden style={{ height }} />;
}

/** Returns the classes of a cell. A table with checkboxes has many columns: it has wide gaps only in a wide window. */
function getCellClass(wideOnly: boolean | undefined, isSelectable: boolean): string {
  return `px-2 ${isSelectable ? '2xl:px-4' : 'md:px-4'} ${wideOnly ? 'hidden md:table-cell' : ''}`;
}
