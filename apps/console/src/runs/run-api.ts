import type { Schemas } from '#libs/client';
import { callApi, getJson, type Narrowed } from '../api/http.js';
import type { A2aArtifact, A2aPart } from './run-event.js';
import type { RunGraph } from './run-picture.js';

export type RunSummary = Schemas['RunSummary'];
export type RunPage = Schemas['RunPage'];
/** Outcome of canceling a node's Task when its run was canceled. */
export type CanceledTask = Schemas['CanceledNode'];
export type Run = Narrowed<Schemas['RunDetail'], { result?: A2aArtifact[] }>;
export type InstanceDetail = Narrowed<Schemas['RunNodeDetail'], { artifacts: A2aArtifact[]; input?: A2aPart[] }>;

/** The run's workflow, at the revision that the run uses. */
export interface RunWorkflow extends RunGraph {
  name: string;
}

/** Number of runs on a page of the list. */
export const RUN_PAGE = 100;

/** Lists runs. @param query filter of the API */
export function listRuns(query: URLSearchParams, pageToken: string, signal?: AbortSignal): Promise<RunPage> {
  const page = new URLSearchParams({ pageSize: String(RUN_PAGE), ...(pageToken && { pageToken }) });
  return getJson(`/api/runs?${query.toString()}&${page.toString()}`, signal);
}

/** Counts the runs of a filter without a search. @param query filter of the API */
export function countRuns(query: URLSearchParams, signal?: AbortSignal): Promise<Schemas['RunCount']> {
  return getJson(`/api/runs/count?${query.toString()}`, signal);
}

export function getRun(runId: string, signal: AbortSignal): Promise<Run> {
  return getJson(`/api/runs/${encodeURIComponent(runId)}`, signal);
}

export function getRunWorkflow(runId: string, signal: AbortSignal): Promise<RunWorkflow> {
  return getJson(`/api/runs/${encodeURIComponent(runId)}/workflow`, signal);
}

export function getRunNode(runId: string, node: string, signal: AbortSignal): Promise<InstanceDetail> {
  return getJson(`/api/runs/${encodeURIComponent(runId)}/nodes/${encodeURIComponent(node)}`, signal);
}

export function cancelRun(runId: string): Promise<unknown> {
  return callApi('POST', `/api/runs/${encodeURIComponent(runId)}/cancel`);
}

/** Answer to a node's question: a text, or data that fits the question's form. */
export type Answer = { text: string } | { data: unknown };

/**
 * Answers a node's question.
 * @param node id of the node that asks, or the name of its instance
 * @throws ApiProblem; 422 if the answer does not fit the form
 */
export function answerQuestion(runId: string, node: string, answer: Answer): Promise<unknown> {
  return callApi('POST', `/api/runs/${encodeURIComponent(runId)}/answers`, { body: { node, parts: [answer] } });
}

/** Entry in a list of a node's instances. */
export type InstanceSummary = Schemas['RunInstance'];
export type InstancePage = Schemas['RunInstances'];

export function listInstances(
  runId: string,
  { node, status }: { node: string; status: string },
  pageToken: string,
  signal: AbortSignal,
): Promise<InstancePage> {
  const query = Object.entries({ node, status, pageToken }).filter(([, value]) => value);
  const search = new URLSearchParams(query).toString();
  return getJson(`/api/runs/${encodeURIComponent(runId)}/instances?${search}`, signal);
}

/** Options of a rerun. */
export type Rerun = Schemas['RerunBody'];

/**
 * Starts a rerun of an ended run. Requests with the same `Idempotency-Key` start a single run.
 * @throws ApiProblem if the service refuses the request or cannot be reached
 */
export function requestRerun(runId: string, body: Rerun, key: string): Promise<Schemas['StartedRerun']> {
  const headers = { 'idempotency-key': key };
  return callApi('POST', `/api/runs/${encodeURIComponent(runId)}/rerun`, { body, headers });
}

/** Entry in a list of a run's reruns. Each rerun is a new run. */
export type Fork = Schemas['RunFork'];

export async function listForks(runId: string, signal: AbortSignal): Promise<Fork[]> {
  return (await getJson<Schemas['RunForks']>(`/api/runs/${encodeURIComponent(runId)}/forks`, signal)).forks;
}

/** Differences of two runs. */
export type RunDiff = Schemas['RunDiffView'];

/** Returns how the run `after` differs from the run `before`. */
export function diffRuns(before: string, after: string, signal: AbortSignal): Promise<RunDiff> {
  const query = new URLSearchParams({ with: before }).toString();
  return getJson(`/api/runs/${encodeURIComponent(after)}/diff?${query}`, signal);
}

/** Lists the newest runs of a workflow. */
export async function listRunsOf(workflow: string, signal: AbortSignal): Promise<RunSummary[]> {
  const query = new URLSearchParams({ workflow, pageSize: String(RUN_PAGE) }).toString();
  return (await getJson<RunPage>(`/api/runs?${query}`, signal)).runs;
}

/** Returns the address of the comparison of two runs. */
export function compareHref(before: string, after: string): string {
  return `~/runs/compare?${new URLSearchParams({ before, after }).toString()}`;
}
