import type { Schemas } from '#libs/client';
import { callApi, requestApi } from '../api/http.js';
import { downloadFile } from '../components/download.js';

export type BulkReport = Schemas['BulkReport'];
export type BulkOutcome = Schemas['BulkOutcome'];

/** Maximum number of runs in one bulk action. */
export const MOST_SELECTED = 500;

/** Action that can be applied to several runs at once. */
export type BulkAction = 'cancel' | 'rerun' | 'rerun-failed';

/** Request of a bulk action. */
interface BulkRequest {
  dryRun: boolean;
  /** Idempotency key: reruns of the same request start once. */
  key: string;
  /** True if reruns use the newest revision of each workflow. */
  newest: boolean;
}

/** Runs that a person selected, or the filter of the API that selects them. */
export type BulkSelection = { ids: readonly string[] } | { query: URLSearchParams };

/** Cancels or reruns runs, or only reports what would be done. @throws ApiProblem */
export function actOnRuns(
  action: BulkAction,
  selection: BulkSelection,
  { dryRun, key, newest }: BulkRequest,
): Promise<BulkReport> {
  const path = action === 'cancel' ? '/api/runs/cancel' : '/api/runs/rerun';
  const query = 'query' in selection ? `?${selection.query.toString()}` : '';
  const body = {
    dryRun,
    ...('ids' in selection && { ids: selection.ids }),
    ...(action === 'rerun-failed' && { failed: true }),
    ...(action !== 'cancel' && newest && { newest: true }),
  };
  return callApi('POST', `${path}${query}`, { body, headers: { 'idempotency-key': key } });
}

/** Saves the runs that a filter selects as a CSV file. @throws ApiProblem if the service refuses the call */
export async function downloadRuns(query: URLSearchParams): Promise<void> {
  const response = await requestApi('GET', `/api/runs.csv?${query.toString()}`);
  downloadFile({ name: 'runs.csv', content: await response.blob() });
}
