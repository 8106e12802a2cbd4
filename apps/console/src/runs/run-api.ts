import { callAgent } from '../api/a2a.js';
import { call, get } from '../api/http.js';
import type { Graph } from '../graph/graph.js';
import type { Artifact, Part } from './run-event.js';

export const RUN_STATUSES = ['running', 'input-required', 'completed', 'failed', 'canceled'] as const;

export interface RunSummary {
  runId: string;
  workflow: string;
  status: string;
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
  agentUrl: string;
  taskId?: string;
  outcome: string;
}

export interface Run extends RunSummary {
  contextId: string;
  inputs: Record<string, unknown>;
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
  error?: string;
  input?: Part[];
}

/** The workflow as a run began with it. */
export interface RunWorkflow extends Graph {
  name: string;
  onFailure?: string;
}

export interface RunFilter {
  workflow: string;
  status: string;
}

const PAGE = 50;

export function listRuns({ workflow, status }: RunFilter, pageToken: string, signal?: AbortSignal): Promise<RunPage> {
  const query = Object.entries({ workflow, status, pageToken, pageSize: String(PAGE) }).filter(([, value]) => value);
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

/** Answers the node that a run waits for: a Message to the run goes down to it. */
export function answerRun(workflow: string, runId: string, text: string): Promise<unknown> {
  const message = { messageId: crypto.randomUUID(), taskId: runId, role: 'ROLE_USER', parts: [{ text }] };
  const body = { message, configuration: { returnImmediately: true } };
  return callAgent('POST', `/a2a/workflows/${encodeURIComponent(workflow)}`, '/message:send', body);
}
