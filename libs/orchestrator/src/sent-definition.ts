import { ProblemError, readBody } from '#libs/http';
import { isJsonObject, type JsonObject } from '#libs/protocol';
import { definitionOf, WorkflowBody } from './api/workflow-body.js';
import type { WorkflowDefinition, WorkflowNode } from './workflow.js';
import { fault, type WorkflowProblem } from './workflow-problem.js';

/** The definition that was sent, or why it is none. */
export function readDefinition(sent: unknown): WorkflowDefinition | WorkflowProblem[] {
  try {
    return definitionOf(readBody(WorkflowBody, sent));
  } catch (error) {
    if (!(error instanceof ProblemError) || error.status !== 400) throw error;
    return error.errors.map(({ path, detail }) => fault('MALFORMED', path, `${path} ${detail}`.trim()));
  }
}

type Language = WorkflowDefinition['language'];

/**
 * What was sent as the definition that a `workflow` node runs. Without a name it is called like the node, without a
 * language it has that of the definition around it.
 */
export function inlineBody({ id, type, config: { body } }: WorkflowNode, around?: Language): JsonObject | undefined {
  if (type !== 'workflow' || !isJsonObject(body)) return undefined;
  // One that is wrong is so once.
  const language = body['language'] ?? (around === 1 || around === 2 ? around : undefined);
  return { name: id, ...body, ...(language !== undefined && { language }) };
}

/** The definition that stands in a `workflow` node; `undefined` where it names a workflow instead, or has none to run. */
export function inlineDefinition(node: WorkflowNode, around?: Language): WorkflowDefinition | undefined {
  const body = inlineBody(node, around);
  const read = body && readDefinition(body);
  return Array.isArray(read) ? undefined : read;
}
