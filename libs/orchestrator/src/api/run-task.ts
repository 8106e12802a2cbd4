import { REVISION_KEY } from '#libs/executor';
import type { Task } from '#libs/protocol';
import type { RecordedEvent, TaskHeader } from '#libs/tasks';
import { type StreamedRunEvent, toRunEvent } from '../run-event.js';
import { readRunMetadata } from '../run-metadata.js';

const RUN_AGENT = /^workflows\/([^/]+)$/;

/** True if a Task is a run, that is, its agent is a workflow. */
export function isRun(header: Pick<TaskHeader, 'agent'>): boolean {
  return RUN_AGENT.test(header.agent);
}

/**
 * True if a Task may be a run: that of a workflow, or that of a node. Its metadata tell a node's run from other Tasks.
 */
export function mayBeRun({ agent }: Pick<TaskHeader, 'agent'>): boolean {
  return agent.startsWith('workflows/');
}

/** Returns the workflow that a Task is a run of; `undefined` if the Task is no run. */
export function workflowRunBy(header: TaskHeader, task: Task | undefined): string | undefined {
  return isRun(header) ? workflowOf(header) : readRunMetadata(task?.metadata).workflow;
}

/** Returns the name of a run's workflow. */
export function workflowOf(header: Pick<TaskHeader, 'agent'>): string {
  return RUN_AGENT.exec(header.agent)?.[1] ?? '';
}

/** Returns the revision that a run was started with; `undefined` if its Task does not name one. */
export function revisionOf(task: Task): string | undefined {
  const noted = task.metadata?.[REVISION_KEY];
  return readRunMetadata(task.metadata).revision ?? (typeof noted === 'string' ? noted : undefined);
}

/** Returns a function that turns events of a run's log into run events. */
export function runEvents(workflow: string): (recorded: RecordedEvent) => StreamedRunEvent {
  return (recorded) => toRunEvent(recorded, { workflow });
}
