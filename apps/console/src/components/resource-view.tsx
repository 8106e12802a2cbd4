import type { ReactNode } from 'react';
import { retryFailed } from '../api/queries.js';
import { Button } from './button.js';
import { ErrorState } from './error-state.js';
import { Loading } from './loading.js';

interface ResourceViewProps<T> {
  /** Result of `useQuery`. */
  resource: { data: T | undefined; failureReason: Error | null };
  children: (data: T) => ReactNode;
}

/** Shows the data of a query, or its loading state, or its error with a retry button. */
export function ResourceView<T>({ resource, children }: ResourceViewProps<T>) {
  const { data, failureReason } = resource;
  if (data !== undefined) return children(data);
  return failureReason === null ? <Loading /> : <ErrorState error={failureReason} onRetry={retryFailed} />;
}

interface MoreButtonProps {
  /** Result of `useInfiniteQuery`. */
  list: { hasNextPage: boolean; fetchNextPage: () => Promise<unknown>; refetch: () => Promise<unknown> };
}

/** Shows a button that adds the next page to a list, if there is one. */
export function MoreButton({ list }: MoreButtonProps) {
  if (!list.hasNextPage) return null;
  const showMore = async (): Promise<void> => {
    await list.fetchNextPage();
    // Rows may have moved between the pages, and `fetchNextPage` canceled a running refetch.
    await list.refetch();
  };
  return (
    <div className="flex justify-center p-4">
      <Button onClick={() => void showMore()}>Show more</Button>
    </div>
  );
}
