import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import { Link } from 'wouter';
import type { Column } from './data-table.js';

interface VirtualTableProps<T> {
  /** Name of the table for screen readers. */
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string;
  /** Returns the address of a row; its first cell links there. */
  hrefOf?: (row: T) => string;
  /** Called when the last rows come into view. */
  onEnd?: () => void;
}

const ROW_HEIGHT = 44;
const OVERSCAN = 10;

/** Shows a table of any length. It fills its container, scrolls, and draws only the rows in view. */
export function VirtualTable<T>({ label, columns, rows, keyOf, hrefOf, onEnd }: VirtualTableProps<T>) {
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
  const atEnd = last !== undefined && last.index >= rows.length - 1;
  useEffect(() => {
    if (atEnd) onEnd?.();
  }, [atEnd, onEnd]);
  return (
    <div ref={box} className="min-h-0 grow overflow-auto" tabIndex={0} role="region" aria-label={label}>
      <table aria-label={label} aria-rowcount={rows.length + 1} className="w-full table-fixed border-collapse text-sm">
        <thead className="sticky top-0 z-10 bg-card">
          <tr className="text-left text-xs text-muted-foreground shadow-[inset_0_-1px_var(--border)]">
            {columns.map(({ title, wideOnly, className = '' }) => (
              <th key={title} scope="col" className={`px-4 py-2 font-medium ${getColumnClass(wideOnly)} ${className}`}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Gap height={first?.start ?? 0} />
          {items.map(({ index }) => {
            const row = rows[index] as T;
            return (
              <tr key={keyOf(row)} aria-rowindex={index + 2} className="relative h-11 border-b hover:bg-muted/60">
                {columns.map(({ title, cell, wideOnly, className = '' }, column) => (
                  <td key={title} className={`truncate px-4 ${getColumnClass(wideOnly)} ${className}`}>
                    {column === 0 && hrefOf ? (
                      <Link href={hrefOf(row)} className="font-medium before:absolute before:inset-0 hover:underline">
                        {cell(row)}
                      </Link>
                    ) : (
                      cell(row)
                    )}
                  </td>
                ))}
              </tr>
            );
          })}
          <Gap height={virtualizer.getTotalSize() - (last?.end ?? 0)} />
        </tbody>
      </table>
    </div>
  );
}

/** Fills the height of rows that are not drawn. */
function Gap({ height }: { height: number }) {
  if (height <= 0) return null;
  return <tr aria-hidden style={{ height }} />;
}

function getColumnClass(wideOnly: boolean | undefined): string {
  return wideOnly ? 'hidden md:table-cell' : '';
}
