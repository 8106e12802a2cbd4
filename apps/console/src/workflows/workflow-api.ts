import { call, get, getPages } from '../api/http.js';
import type { FieldProblem } from '../api/problem.js';
import type { Graph, GraphNode } from '../graph/graph.js';
import type { Draft } from './draft.js';

/** A workflow as its author writes it. */
export interface Definition extends Partial<Omit<Draft, keyof Graph | 'name'>>, Graph {
  name: string;
}

/** A workflow as the service shows it. */
export interface Workflow extends Definition {
  revision?: string;
  createdAt?: string;
  updatedAt: string;
}

export function listWorkflows(signal: AbortSignal): Promise<Workflow[]> {
  return getPages('/api/workflows', signal);
}

export function getWorkflow(name: string, signal: AbortSignal): Promise<Workflow> {
  return get(`/api/workflows/${encodeURIComponent(name)}`, signal);
}

export interface SavedRevision {
  revision: string;
  savedAt: string;
}

/** What was saved of a workflow, the newest first, as far as one page goes. */
export async function listRevisions(name: string, signal: AbortSignal): Promise<SavedRevision[]> {
  const path = `/api/workflows/${encodeURIComponent(name)}/revisions`;
  return (await get<{ revisions: SavedRevision[] }>(path, signal)).revisions;
}

/** A workflow as a save answers it. */
export interface SavedWorkflow extends Workflow {
  /** What its author is told of, though it was saved. */
  problems?: FieldProblem[];
}

/**
 * @param over what is saved over: that revision and no other, or `*` for whichever it is, also none; `undefined` for a
 * new workflow
 * @throws ApiProblem; with status 422 it has one entry for each thing that is wrong, with 412 there is another revision,
 * or none any more
 */
export function saveWorkflow(draft: Draft, over: string | undefined): Promise<SavedWorkflow> {
  const body = definitionOf(draft);
  if (over === undefined) return call('POST', '/api/workflows', { body });
  // `If-Match: *` would ask for one that is still there.
  const headers: Record<string, string> = over === '*' ? {} : { 'if-match': `"${over}"` };
  return call('PUT', `/api/workflows/${encodeURIComponent(draft.name)}`, { body, headers });
}

/** What is wrong with a draft, or may not be what its author meant; nothing is saved. */
export async function checkWorkflow(draft: Draft, signal: AbortSignal): Promise<FieldProblem[]> {
  const body = definitionOf(draft);
  const { problems } = await call<{ problems: FieldProblem[] }>('POST', '/api/workflows/check', { body, signal });
  return problems;
}

export function deleteWorkflow(name: string): Promise<void> {
  return call('DELETE', `/api/workflows/${encodeURIComponent(name)}`);
}

/** Starts a run; once, however often it is asked for under one key. @throws ApiProblem */
export function startRun(name: string, inputs: Record<string, unknown>, key: string): Promise<{ runId: string }> {
  const headers = { 'idempotency-key': key };
  return call('POST', `/api/workflows/${encodeURIComponent(name)}/runs`, { body: { inputs }, headers });
}

/** A definition as it is edited, with all that it says. */
export function draftOf(definition: Definition): Draft {
  return { ...definition, description: definition.description ?? '', onFailure: definition.onFailure ?? 'cancel' };
}

/** What a draft is saved as: all that it says, in the order in which a person reads it. */
export function definitionOf({ name, description, nodes, edges, ...rest }: Draft): Definition {
  return { name, ...(description !== '' && { description }), ...rest, nodes, edges };
}

/** The definition of a workflow as the service shows it: without what the service adds. */
export function withoutRevision(workflow: Workflow): Definition {
  const { revision: _revision, createdAt: _createdAt, updatedAt: _updatedAt, ...definition } = workflow;
  return definition;
}

export function inputNodes({ nodes }: Graph): GraphNode[] {
  return nodes.filter(({ type }) => type === 'input');
}
