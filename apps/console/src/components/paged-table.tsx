import type { ReactNode } from 'react';
import type { Pages } from '../api/use-pages.js';
import type { Column } from './data-table.js';
import { ErrorState } from './error-state.js';
import { Loading } from './loading.js';
import { VirtualTable } from './virtual-table.js';

interface PagedTableProps<T> {
  label: string;
  pages: Pages<T>;
  columns: readonly Column<T>[];
  keyOf: (row: T) => string;
  hrefOf?: (row: T) => string;
  /** Content shown if there are no rows. */
  empty: ReactNode;
}

/** Shows a list that loads its next page when its end comes into view. */
export function PagedTable<T>({ label, pages, columns, keyOf, hrefOf, empty }: PagedTableProps<T>) {
  const { rows, error, more, loading, loadMore, reload } = pages;
  if (rows === undefined) return error === undefined ? <Loading /> : <ErrorState error={error} onRetry={reload} />;
  return (
    <>
      {error !== undefined && <ErrorState error={error} onRetry={reload} />}
      {rows.length === 0 ? (
        empty
      ) : (
        <VirtualTable
          label={label}
          columns={columns}
          rows={rows}
          keyOf={keyOf}
          {...(hrefOf && { hrefOf })}
          {...(error === undefined && { onEnd: loadMore })}
        />
      )}
      <p role="status" className="sr-only">
        {loading ? 'Loading …' : more ? '' : 'The list is complete.'}
      </p>
    </>
  );
}
