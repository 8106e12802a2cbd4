import { ProblemError, readBody } from '#libs/http';
import { isJsonObject, type JsonObject } from '#libs/protocol';
import { definitionOf, WorkflowBody } from './api/workflow-body.js';
import type { WorkflowDefinition, WorkflowNode } from './workflow.js';
import { errorProblem, type WorkflowProblem } from './workflow-problem.js';

/** Parses a definition. Returns its problems if it is malformed. */
export function readDefinition(sent: unknown): WorkflowDefinition | WorkflowProblem[] {
  try {
    return definitionOf(readBody(WorkflowBody, sent));
  } catch (error) {
    if (!(error instanceof ProblemError) || error.status !== 400) throw error;
    return error.errors.map(({ path, detail }) => errorProblem('MALFORMED', path, `${path} ${detail}`.trim()));
  }
}

type Language = WorkflowDefinition['language'];

/**
 * Returns the inline definition of a `workflow` node as it was sent. Its name defaults to the node id, its language to
 * that of the surrounding definition.
 */
export function inlineBody({ id, type, config: { body } }: WorkflowNode, around?: Language): JsonObject | undefined {
  if (type !== 'workflow' || !isJsonObject(body)) return undefined;
  // An invalid language is reported once, at the surrounding definition.
  const language = body['language'] ?? (around === 1 || around === 2 ? around : undefined);
  return { name: id, ...body, ...(language !== undefined && { language }) };
}

/**
 * Returns the inline definition of a `workflow` node; `undefined` if the node names a workflow instead, or its body is
 * invalid.
 */
export function inlineDefinition(node: WorkflowNode, around?: Language): WorkflowDefinition | undefined {
  const body = inlineBody(node, around);
  const read = body && readDefinition(body);
  return Array.isArray(read) ? undefined : read;
}
