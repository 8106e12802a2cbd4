import { call, get } from '../api/http.js';
import type { FieldProblem } from '../api/problem.js';
import type { Graph, GraphNode } from '../graph/graph.js';
import type { Draft } from './draft.js';

/** A workflow as the service shows it. */
export interface Workflow extends Graph {
  name: string;
  description?: string;
  onFailure?: 'cancel' | 'continue';
  updatedAt: string;
}

export function listWorkflows(signal: AbortSignal): Promise<Workflow[]> {
  return get('/api/workflows', signal);
}

export function getWorkflow(name: string, signal: AbortSignal): Promise<Workflow> {
  return get(`/api/workflows/${encodeURIComponent(name)}`, signal);
}

/** A workflow as a save answers it. */
export interface SavedWorkflow extends Workflow {
  /** What its author is told of, though it was saved. */
  problems?: FieldProblem[];
}

/** @throws ApiProblem; with status 422 it has one entry for each thing that is wrong, with 412 the workflow is gone */
export function saveWorkflow(draft: Draft, isNew: boolean): Promise<SavedWorkflow> {
  const { name, description, onFailure, nodes, edges } = draft;
  const body = { name, ...(description !== '' && { description }), onFailure, nodes, edges };
  if (isNew) return call('POST', '/api/workflows', { body });
  return call('PUT', `/api/workflows/${encodeURIComponent(name)}`, { body, headers: { 'if-match': '*' } });
}

export function deleteWorkflow(name: string): Promise<void> {
  return call('DELETE', `/api/workflows/${encodeURIComponent(name)}`);
}

export function startRun(name: string, inputs: Record<string, string>): Promise<{ runId: string }> {
  return call('POST', `/api/workflows/${encodeURIComponent(name)}/runs`, { body: { inputs } });
}

export function draftOf({ name, description = '', onFailure = 'cancel', nodes, edges }: Workflow): Draft {
  return { name, description, onFailure, nodes, edges };
}

export function inputNodes({ nodes }: Graph): GraphNode[] {
  return nodes.filter(({ type }) => type === 'input');
}
