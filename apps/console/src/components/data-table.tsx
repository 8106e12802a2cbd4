import type { ReactNode } from 'react';
import { RowCell } from './row-cell.js';

export interface Column<T> {
  title: string;
  cell: (row: T) => ReactNode;
  /** True if the column is hidden in a narrow window. */
  wideOnly?: boolean;
  className?: string;
}

interface DataTableProps<T> {
  /** Name of the table for screen readers. */
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string;
  /** Returns the address of a row; its first cell links there. */
  hrefOf?: (row: T) => string;
}

/** Shows a name in one line. A name that is too long is cut, with the whole name on hover. */
export function NameText({ name }: { name: string }) {
  return (
    <span title={name} className="block max-w-32 truncate md:max-w-60 2xl:max-w-96">
      {name}
    </span>
  );
}

export function DataTable<T>({ label, columns, rows, keyOf, hrefOf }: DataTableProps<T>) {
  return (
    <div className="overflow-x-auto" tabIndex={0} role="region" aria-label={label}>
      <table aria-label={label} className="w-full border-collapse text-sm">
        <thead>
          <tr className="border-b text-left text-xs text-muted-foreground">
            {columns.map(({ title, wideOnly }) => (
              <th
                key={title}
                scope="col"
                className={`px-2 py-2 font-medium md:px-4 ${wideOnly ? 'hidden md:table-cell' : ''}`}
              >
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} className="relative border-b hover:bg-muted/60">
              {columns.map(({ title, cell, wideOnly, className = '' }, index) => (
                <td
                  key={title}
                  className={`max-w-96 px-2 py-2.5 md:px-4 ${wideOnly ? 'hidden md:table-cell' : ''} ${className}`}
                >
                  <RowCell row={row} cell={cell} href={index === 0 ? hrefOf?.(row) : undefined} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
