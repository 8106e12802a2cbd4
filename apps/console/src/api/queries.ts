import { QueryClient, type QueryFilters } from '@tanstack/react-query';
import { isTransient } from './problem.js';

/** Milliseconds before each retry of a failed load; the last value applies to all further retries. */
const PAUSES = [1_000, 2_000, 5_000, 10_000];

/**
 * Cache of the service's answers that are shown now (TanStack Query).
 * - An answer is dropped when the last component that shows it is unmounted, so that no form begins with an old answer.
 * - Simultaneous equal requests are sent once.
 * - A transient failure is retried until the service answers; meanwhile `failureReason` is the error.
 */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      gcTime: 0,
      // The service may run on this machine: a browser that is offline can still reach it.
      networkMode: 'always',
      refetchOnWindowFocus: false,
      retry: (_failures, error) => isTransient(error),
      retryDelay: (failures) => PAUSES[Math.min(failures, PAUSES.length - 1)] ?? 0,
    },
    mutations: { networkMode: 'always' },
  },
});

const FAILED: QueryFilters = { type: 'active', predicate: ({ state }) => state.fetchFailureCount > 0 };

/** Reloads at once all queries that have failed or wait for a retry. */
export function retryFailed(): void {
  for (const query of queries.getQueryCache().findAll(FAILED)) void query.cancel({ silent: true });
  void queries.refetchQueries(FAILED);
}
