import { keptEntry } from '#libs/executor';
import type { JsonObject } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { ExpressionRun } from './expressions/run-variables.js';
import type { WorkflowRevision } from './workflow.js';

/** Returns the variables of a run for its expressions. @param first event of its log */
export function expressionRun(
  id: string,
  { definition, revision }: Pick<WorkflowRevision, 'definition' | 'revision'>,
  first: TaskEvent | undefined,
): ExpressionRun {
  const task = first && 'task' in first ? first.task : undefined;
  const begun = task?.status.timestamp;
  const startedAt = begun === undefined ? new Date() : new Date(begun);
  const conversation = (keptEntry(task?.metadata) ?? null) as unknown as JsonObject | null;
  return { id, workflow: definition.name, revision, contextId: task?.contextId ?? '', startedAt, conversation };
}
