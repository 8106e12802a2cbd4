import { call, get } from '../api/http.js';
import type { Artifact, Part } from './run-event.js';
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
  /** Empty on the last page. */
  nextPageToken: string;
}

/** What became of one child when its run was canceled. */
export interface CanceledChild {
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
  result?: Artifact[];
  /** The run that it was made of. */
  origin?: string;
  children?: CanceledChild[];
}

export interface NodeDetail {
  id: string;
  type: string;
  status: string;
  attempts: number;
  taskId?: string;
  agentUrl: string;
  artifacts: Artifact[];
  error?: unknown;
  input?: Part[];
}

/** The workflow as a run began with it. */
export interface RunWorkflow extends RunGraph {
  name: string;
}

export interface RunFilter {
  /** A piece of the workflow's name, or the beginning of the run's id. */
  q: string;
  status: string;
}

const PAGE = 50;

export function listRuns({ q, status }: RunFilter, pageToken: string, signal?: AbortSignal): Promise<RunPage> {
  const query = Object.entries({ q, status, pageToken, pageSize: String(PAGE) }).filter(([, value]) => value);
  return get(`/api/runs?${new URLSearchParams(query).toString()}`, signal);
}

export function getRun(runId: string, signal: AbortSignal): Promise<Run> {
  return get(`/api/runs/${encodeURIComponent(runId)}`, signal);
}

export function getRunWorkflow(runId: string, signal: AbortSignal): Promise<RunWorkflow> {
  return get(`/api/runs/${encodeURIComponent(runId)}/workflow`, signal);
}

export function getRunNode(runId: string, node: string, signal: AbortSignal): Promise<NodeDetail> {
  return get(`/api/runs/${encodeURIComponent(runId)}/nodes/${encodeURIComponent(node)}`, signal);
}

export function cancelRun(runId: string): Promise<unknown> {
  return call('POST', `/api/runs/${encodeURIComponent(runId)}/cancel`);
}

/** What a node that asks is told: a text, or data that fits its form. */
export type Answer = { text: string } | { data: unknown };

/** @param node the node, or the instance of it that asks @throws ApiProblem; 422 where the answer does not fit the form */
export function answerQuestion(runId: string, node: string, answer: Answer): Promise<unknown> {
  return call('POST', `/api/runs/${encodeURIComponent(runId)}/answers`, { body: { node, parts: [answer] } });
}

/** An instance of a node as a list shows it. */
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
  /** Empty on the last page. */
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
  return get(`/api/runs/${encodeURIComponent(runId)}/instances?${search}`, signal);
}

/** What a new run takes from one that has ended. */
export interface Rerun {
  /** Instances that are run anew, with all that comes after them. */
  from?: string[];
  /** Whether only what failed is run anew. */
  failed?: true;
  inputs?: Record<string, unknown>;
  revision?: string;
}

/** Starts a new run of what another one was made of; once, however often it is asked for under one key. @throws ApiProblem */
export function rerun(runId: string, body: Rerun, key: string): Promise<{ runId: string; origin: string }> {
  const headers = { 'idempotency-key': key };
  return call('POST', `/api/runs/${encodeURIComponent(runId)}/rerun`, { body, headers });
}

/** A run that was made of another one. */
export interface Fork {
  runId: string;
  createdAt: string;
  status: string;
}

export async function listForks(runId: string, signal: AbortSignal): Promise<Fork[]> {
  return (await get<{ forks: Fork[] }>(`/api/runs/${encodeURIComponent(runId)}/forks`, signal)).forks;
}
