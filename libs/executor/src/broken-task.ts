import { throughOutage } from '#libs/postgres';
import { statusUpdate } from '#libs/protocol';
import type { TaskRecorder, TaskRecording, TaskStore } from '#libs/tasks';
import { endChildrenJob } from './end-children-job.js';

/**
 * Ends a Task of which the database refused the content of an event: what it took before stands, and the Task fails with
 * a sentence.
 * @throws what hinders the reading or the writing
 */
export async function endBroken(
  store: TaskStore,
  recorder: TaskRecorder,
  { taskId, token }: TaskRecording,
  leaving: AbortSignal,
): Promise<void> {
  const stored = await throughOutage(() => store.load(taskId), leaving);
  if (!stored) return;
  const ending = recorder.continue(stored, token);
  const end = statusUpdate(ending, 'TASK_STATE_FAILED', 'What the agent answered could not be stored.');
  ending.record({ ...end, jobs: [endChildrenJob(taskId)] });
  await ending.flush();
}
