import { REVISION_KEY } from '#libs/executor';
import type { Task } from '#libs/protocol';
import type { RecordedEvent, TaskHeader } from '#libs/tasks';
import { type RunEvent, toRunEvent } from '../run-event.js';
import { readRunMetadata } from '../run-metadata.js';

const RUN_AGENT = /^workflows\/([^/]+)$/;

/** Whether a Task is a run: whether its agent is a workflow. */
export function isRun(header: Pick<TaskHeader, 'agent'>): boolean {
  return RUN_AGENT.test(header.agent);
}

/** Whether a Task may be a run: a workflow's, or that of a node, which its metadata tell from those of other nodes. */
export function mayBeRun({ agent }: Pick<TaskHeader, 'agent'>): boolean {
  return agent.startsWith('workflows/');
}

/** The workflow that a Task is a run of; `undefined` where it is none. */
export function workflowRunBy(header: TaskHeader, task: Task | undefined): string | undefined {
  return isRun(header) ? workflowOf(header) : readRunMetadata(task?.metadata).workflow;
}

/** The workflow that a run is one of. */
export function workflowOf(header: Pick<TaskHeader, 'agent'>): string {
  return RUN_AGENT.exec(header.agent)?.[1] ?? '';
}

/** The revision that a run was started with; `undefined` where its Task does not say. */
export function revisionOf(task: Task): string | undefined {
  const noted = task.metadata?.[REVISION_KEY];
  return readRunMetadata(task.metadata).revision ?? (typeof noted === 'string' ? noted : undefined);
}

/** How the events of the log of a workflow's run are told. */
export function runEvents(workflow: string): (recorded: RecordedEvent) => RunEvent {
  return (recorded) => toRunEvent(recorded, { workflow });
}
