import type { ReactNode } from 'react';
import { retryFailed } from '../api/queries.js';
import type { Pages } from '../api/use-pages.js';
import type { Column } from './data-table.js';
import { ErrorState } from './error-state.js';
import { Loading } from './loading.js';
import { VirtualTable, type VirtualTableProps } from './virtual-table.js';

interface PagedTableProps<T> {
  label: string;
  pages: Pages<T>;
  columns: readonly Column<T>[];
  keyOf: (row: T) => string;
  hrefOf?: (row: T) => string;
  /** Content shown if there are no rows. */
  empty: ReactNode;
  selection?: VirtualTableProps<T>['selection'];
  /** False if further pages are loaded only on request. */
  isEndless?: boolean;
}

/** Shows a list that loads its next page when its end comes into view. */
export function PagedTable<T>(props: PagedTableProps<T>) {
  const { label, pages, columns, keyOf, hrefOf, empty, selection, isEndless = true } = props;
  const { rows, error, more, loading, loadMore } = pages;
  if (rows === undefined) return error === null ? <Loading /> : <ErrorState error={error} onRetry={retryFailed} />;
  return (
    <>
      {error !== null && <ErrorState error={error} onRetry={retryFailed} />}
      {rows.length === 0 ? (
        empty
      ) : (
        <VirtualTable
          label={label}
          columns={columns}
          rows={rows}
          keyOf={keyOf}
          {...(hrefOf && { hrefOf })}
          {...(selection && { selection })}
          {...(isEndless && { onEnd: loadMore })}
        />
      )}
      <p role="status" className="sr-only">
        {loading ? 'Loading …' : more ? '' : 'The list is complete.'}
      </p>
    </>
  );
}
