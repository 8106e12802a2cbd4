import { callApi, getJson } from '../api/http.js';
import type { A2aArtifact, A2aPart } from './run-event.js';
import type { RunGraph } from './run-picture.js';

export const RUN_STATUSES = ['running', 'input-required', 'completed', 'failed', 'canceled'] as const;

export interface RunSummary {
  runId: string;
  workflow: string;
  status: string;
  inputs: Record<string, unknown>;
  error?: { message: string };
  createdAt: string;
  updatedAt: string;
}

export interface RunPage {
  runs: RunSummary[];
  /** Token of the next page; empty on the last page. */
  nextPageToken: string;
}

/** Outcome for a child when its run was canceled. */
export interface CanceledTask {
  node: string;
  instance?: string;
  agentUrl: string;
  taskId?: string;
  outcome: string;
}

export interface Run extends RunSummary {
  trace_id?: string;
  contextId: string;
  inputs: Record<string, unknown>;
  result?: A2aArtifact[];
  /** Id of the run that it was rerun from. */
  origin?: string;
  children?: CanceledTask[];
}

export interface InstanceDetail {
  id: string;
  type: string;
  status: string;
  attempts: number;
  taskId?: string;
  agentUrl: string;
  artifacts: A2aArtifact[];
  error?: unknown;
  input?: A2aPart[];
}

/** The workflow at the revision of the run. */
export interface RunWorkflow extends RunGraph {
  name: string;
}

export interface RunFilter {
  /** Part of the workflow's name, or the start of the run's id. */
  q: string;
  status: string;
}

const PAGE = 50;

export function listRuns({ q, status }: RunFilter, pageToken: string, signal?: AbortSignal): Promise<RunPage> {
  const query = Object.entries({ q, status, pageToken, pageSize: String(PAGE) }).filter(([, value]) => value);
  return getJson(`/api/runs?${new URLSearchParams(query).toString()}`, signal);
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

/** Answer to a node's question: a text, or data that fits its form. */
export type Answer = { text: string } | { data: unknown };

/**
 * Answers a node's question.
 * @param node the node, or its instance that asks
 * @throws ApiProblem; 422 if the answer does not fit the form
 */
export function answerQuestion(runId: string, node: string, answer: Answer): Promise<unknown> {
  return callApi('POST', `/api/runs/${encodeURIComponent(runId)}/answers`, { body: { node, parts: [answer] } });
}

/** An instance of a node in a list. */
export interface InstanceSummary {
  instance: string;
  node: string;
  status: string;
  attempts: number;
  taskId?: string;
  error?: { message: string } | string;
  startedAt?: string;
  finishedAt?: string;
}

export interface InstancePage {
  instances: InstanceSummary[];
  /** Token of the next page; empty on the last page. */
  nextPageToken: string;
}

export function listInstances(
  runId: string,
  { node, status }: { node: string; status: string },
  pageToken: string | undefined,
  signal: AbortSignal,
): Promise<InstancePage> {
  const query = Object.entries({ node, status, pageToken: pageToken ?? '' }).filter(([, value]) => value);
  const search = new URLSearchParams(query).toString();
  return getJson(`/api/runs/${encodeURIComponent(runId)}/instances?${search}`, signal);
}

/** Options of a rerun. */
export interface Rerun {
  /** Instances to run again, with everything after them. */
  from?: string[];
  /** True if only what failed runs again. */
  failed?: true;
  inputs?: Record<string, unknown>;
  revision?: string;
}

/**
 * Starts a rerun of an ended run; requests with the same key start a single run.
 * @throws ApiProblem
 */
export function requestRerun(runId: string, body: Rerun, key: string): Promise<{ runId: string; origin: string }> {
  const headers = { 'idempotency-key': key };
  return callApi('POST', `/api/runs/${encodeURIComponent(runId)}/rerun`, { body, headers });
}

/** A rerun of another run. */
export interface Fork {
  runId: string;
  createdAt: string;
  status: string;
}

export async function listForks(runId: string, signal: AbortSignal): Promise<Fork[]> {
  return (await getJson<{ forks: Fork[] }>(`/api/runs/${encodeURIComponent(runId)}/forks`, signal)).forks;
}
