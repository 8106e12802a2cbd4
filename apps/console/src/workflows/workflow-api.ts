import type { Schemas } from '#libs/client';
import { callApi, getJson, getPages } from '../api/http.js';
import type { ProblemDetail } from '../api/problem.js';
import type { Graph, GraphNode } from '../graph/graph.js';
import type { Draft } from './draft.js';

/** A workflow as its author writes it. */
export interface Definition extends Partial<Omit<Draft, keyof Graph | 'name'>>, Graph {
  name: string;
}

/** A workflow as the service returns it. */
export type WorkflowRecord = Definition &
  Pick<Schemas['WorkflowView'], 'updatedAt'> &
  Partial<Pick<Schemas['WorkflowView'], 'revision' | 'createdAt'>>;

/** Key of the query of all workflows, as `listWorkflows` returns them. */
export const workflowListKey = () => ['workflows', 'list'] as const;

export function listWorkflows(signal: AbortSignal): Promise<WorkflowRecord[]> {
  return getPages('/api/workflows', signal);
}

export function getWorkflow(name: string, signal: AbortSignal): Promise<WorkflowRecord> {
  return getJson(`/api/workflows/${encodeURIComponent(name)}`, signal);
}

export type SavedRevision = Schemas['SavedRevision'];

/** Lists the newest revisions of a workflow: the first page, newest first. */
export async function listRevisions(name: string, signal: AbortSignal): Promise<SavedRevision[]> {
  const path = `/api/workflows/${encodeURIComponent(name)}/revisions`;
  return (await getJson<Schemas['RevisionPage']>(path, signal)).revisions;
}

/** A workflow as returned by a save. */
export type SaveResult = WorkflowRecord & Pick<Schemas['SavedWorkflowView'], 'problems'>;

/**
 * Saves a draft as a workflow.
 * @param over the revision that must be current; `*` for any revision or none; `undefined` for a new workflow
 * @throws ApiProblem; 422 with an entry for each problem, 412 if another revision is current or the workflow is gone
 */
export function saveWorkflow(draft: Draft, over: string | undefined): Promise<SaveResult> {
  const body = definitionOf(draft);
  if (over === undefined) return callApi('POST', '/api/workflows', { body });
  // `If-Match: *` would require that the workflow still exists.
  const headers: Record<string, string> = over === '*' ? {} : { 'if-match': `"${over}"` };
  return callApi('PUT', `/api/workflows/${encodeURIComponent(draft.name)}`, { body, headers });
}

/** Returns the errors and warnings of a draft; nothing is saved. */
export async function checkWorkflow(draft: Draft, signal: AbortSignal): Promise<ProblemDetail[]> {
  const body = definitionOf(draft);
  const { problems } = await callApi<Schemas['WorkflowProblems']>('POST', '/api/workflows/check', { body, signal });
  return problems;
}

export function deleteWorkflow(name: string): Promise<void> {
  return callApi('DELETE', `/api/workflows/${encodeURIComponent(name)}`);
}

/**
 * Starts a run of a saved workflow. Requests with the same `Idempotency-Key` start a single run.
 * @throws ApiProblem if the service refuses the request or cannot be reached
 */
export function startRun(name: string, inputs: Record<string, unknown>, key: string): Promise<Schemas['StartedRun']> {
  const headers = { 'idempotency-key': key };
  return callApi('POST', `/api/workflows/${encodeURIComponent(name)}/runs`, { body: { inputs }, headers });
}

/** Converts a definition to a draft, with all its members. */
export function draftOf(definition: Definition): Draft {
  return { ...definition, description: definition.description ?? '', onFailure: definition.onFailure ?? 'cancel' };
}

/** Converts a draft to a definition. All its members get the order that suits a person who reads them. */
export function definitionOf({ name, description, nodes, edges, ...rest }: Draft): Definition {
  return { name, ...(description !== '' && { description }), ...rest, nodes, edges };
}

/** Returns the definition of a workflow, without the members that the service adds. */
export function withoutRevision(workflow: WorkflowRecord): Definition {
  const { revision: _revision, createdAt: _createdAt, updatedAt: _updatedAt, ...definition } = workflow;
  return definition;
}

export function inputNodes({ nodes }: Graph): GraphNode[] {
  return nodes.filter(({ type }) => type === 'input');
}
