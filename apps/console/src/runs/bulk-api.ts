import type { Schemas } from '#libs/client';
import { callApi, requestApi } from '../api/http.js';
import { downloadFile } from '../components/download.js';

export type BulkReport = Schemas['BulkReport'];
export type BulkOutcome = Schemas['BulkOutcome'];

/** Maximum number of runs to which one action applies. */
export const MOST_SELECTED = 500;

/** Action on several runs. */
export type BulkAction = 'cancel' | 'rerun' | 'rerun-failed';

/** Runs that a person selected, or the filter of the API that selects them. */
export type BulkSelection = { ids: readonly string[] } | { query: URLSearchParams };

/**
 * Cancels or reruns runs, or only reports what would be done.
 * @param key idempotency key: a request that is sent again with the same key starts no second rerun
 * @throws ApiProblem if the service refuses the request or cannot be reached
 */
export function actOnRuns(
  action: BulkAction,
  selection: BulkSelection,
  { dryRun, key }: { dryRun: boolean; key: string },
): Promise<BulkReport> {
  const path = action === 'cancel' ? '/api/runs/cancel' : '/api/runs/rerun';
  const query = 'query' in selection ? `?${selection.query.toString()}` : '';
  const body = {
    dryRun,
    ...('ids' in selection && { ids: selection.ids }),
    ...(action === 'rerun-failed' && { failed: true }),
  };
  return callApi('POST', `${path}${query}`, { body, headers: { 'idempotency-key': key } });
}

/** Saves the runs that a filter selects as a CSV file. @throws ApiProblem if the service refuses the call */
export async function downloadRuns(query: URLSearchParams): Promise<void> {
  const response = await requestApi('GET', `/api/runs.csv?${query.toString()}`);
  downloadFile({ name: 'runs.csv', content: await response.blob() });
}
