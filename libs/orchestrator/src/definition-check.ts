import { setImmediate as turn } from 'node:timers/promises';
import type { NodeTypes } from '#libs/executor';
import type { JsonObject } from '#libs/protocol';
import { resolveNamedChildren } from './child-workflows.js';
import { findSizeProblems } from './definition-limits.js';
import type { SavedWorkflows } from './saved-workflows.js';
import { readDefinition } from './sent-definition.js';
import { unknownMembers } from './unknown-members.js';
import type { WorkflowDefinition } from './workflow.js';
import type { WorkflowProblem } from './workflow-problem.js';
import { workflowProblems } from './workflow-problems.js';

/** Number of nodes and edges beyond which reading and checking a definition yield to the event loop in between. */
const FEW_PARTS = 500;

/** Finds the problems of a definition that depend on the service, such as unknown agents. */
type ServiceCheck = (definition: WorkflowDefinition) => Promise<WorkflowProblem[]>;

/**
 * Returns all problems of a request body, errors first.
 * @param store workflows that nodes may name
 * @param findServiceProblems absent outside of a service
 */
export async function findBodyProblems(
  body: unknown,
  store: SavedWorkflows,
  nodeTypes: NodeTypes,
  findServiceProblems: ServiceCheck = async () => [],
): Promise<WorkflowProblem[]> {
  const definition = readDefinition(body);
  if (Array.isArray(definition)) return definition;
  await turnIfLarge(definition);
  const problems = findOwnProblems(definition, body as JsonObject, nodeTypes);
  if (problems.some(isError)) return problems;
  const named = await resolveNamedChildren(definition, store);
  const tools = await findServiceProblems(definition);
  return [...('problems' in named ? named.problems : []), ...tools, ...problems].toSorted(errorsFirst);
}

/** Returns the problems that a definition has by itself, errors first. */
export function findOwnProblems(
  definition: WorkflowDefinition,
  sent: JsonObject,
  nodeTypes: NodeTypes,
): WorkflowProblem[] {
  const sizes = findSizeProblems(definition);
  if (sizes.length > 0) return sizes;
  const problems = [...workflowProblems(definition, nodeTypes), ...unknownMembers(sent)];
  return problems.toSorted(errorsFirst);
}

/** Yields to the event loop after a large definition was read. */
export async function turnIfLarge({ nodes, edges }: WorkflowDefinition): Promise<void> {
  if (nodes.length + edges.length > FEW_PARTS) await turn();
}

function errorsFirst(a: WorkflowProblem, b: WorkflowProblem): number {
  return Number(isError(b)) - Number(isError(a));
}

/** True if a problem prevents saving, with or without `strict`. */
export function isError({ severity }: WorkflowProblem): boolean {
  return severity === 'error';
}
