import type { TaskEvent } from '#libs/tasks';
import type { KnownRun } from './expressions/run-variables.js';
import type { WorkflowRevision } from './workflow.js';

/** A run as its expressions know it. */
export function knownRun(
  id: string,
  { definition, revision }: Pick<WorkflowRevision, 'definition' | 'revision'>,
  log: readonly TaskEvent[],
): KnownRun {
  const [first] = log;
  const task = first && 'task' in first ? first.task : undefined;
  const begun = task?.status.timestamp;
  const startedAt = begun === undefined ? new Date() : new Date(begun);
  return { id, workflow: definition.name, revision, contextId: task?.contextId ?? '', startedAt };
}
