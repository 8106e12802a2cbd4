import type { Schemas } from '#libs/client';
import { callApi, getJson } from '../../api/http.js';
import type { WorkflowRecord } from '../workflow-api.js';

export type RevisionEntry = Schemas['SavedRevision'];
export type RevisionPage = Schemas['RevisionPage'];
export type RevisionDiff = Schemas['RevisionDiff'];
export type FieldChange = Schemas['FieldChangeView'];
export type WorkflowFailures = Schemas['WorkflowFailures'];

function revisionsPath(name: string): string {
  return `/api/workflows/${encodeURIComponent(name)}/revisions`;
}

export function listRevisionPage(name: string, pageToken: string, signal: AbortSignal): Promise<RevisionPage> {
  return getJson(`${revisionsPath(name)}?${new URLSearchParams({ pageToken }).toString()}`, signal);
}

export function getRevision(name: string, revision: string, signal: AbortSignal): Promise<WorkflowRecord> {
  return getJson(`${revisionsPath(name)}/${encodeURIComponent(revision)}`, signal);
}

/** Returns what differs in the revision `after`, compared with `before`. */
export function diffRevisions(
  name: string,
  { before, after }: { before: string; after: string },
  signal: AbortSignal,
): Promise<RevisionDiff> {
  const query = new URLSearchParams({ with: before }).toString();
  return getJson(`${revisionsPath(name)}/${encodeURIComponent(after)}/diff?${query}`, signal);
}

/**
 * Saves the definition of a revision as the newest one.
 * @param newest newest revision that the person has seen; the service saves only if it is still the newest one
 * @throws ApiProblem; 412 if another revision is the newest one
 */
export function restoreRevision(name: string, revision: string, newest: string): Promise<Schemas['SavedWorkflowView']> {
  const headers = { 'if-match': `"${newest}"` };
  return callApi('POST', `${revisionsPath(name)}/${encodeURIComponent(revision)}/restore`, { headers });
}

export function getFailures(name: string, signal: AbortSignal): Promise<WorkflowFailures> {
  return getJson(`/api/workflows/${encodeURIComponent(name)}/failures`, signal);
}

/** Returns the address of the history of a workflow, with a revision shown. */
export function historyHref(name: string, revision?: string, before?: string): string {
  const path = `~/workflows/history/${encodeURIComponent(name)}`;
  if (revision === undefined) return path;
  return `${path}/${encodeURIComponent(revision)}${before === undefined ? '' : `?with=${encodeURIComponent(before)}`}`;
}
