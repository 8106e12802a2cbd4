import type { ReactNode } from 'react';
import { Link } from 'wouter';

interface RowCellProps<T> {
  row: T;
  cell: (row: T) => ReactNode;
  /** Address of the row, for its first cell; `undefined` for other cells, and for a row without an address. */
  href: string | undefined;
}

/** Shows the content of a cell. With an address it is a link that covers the whole row. */
export function RowCell<T>({ row, cell, href }: RowCellProps<T>) {
  if (href === undefined) return cell(row);
  return (
    <Link href={href} className="font-medium before:absolute before:inset-0 hover:underline">
      {cell(row)}
    </Link>
  );
}
