import { retryWhileDatabaseDown } from '#libs/postgres';
import { statusUpdate } from '#libs/protocol';
import type { TaskRecorder, TaskRecording, TaskStore } from '#libs/tasks';
import { endChildrenJob } from './end-children-job.js';

/**
 * Fails a Task after the database rejected the content of an event. Events that were written before remain.
 * @throws the error that prevents reading or writing
 */
export async function endBroken(
  store: TaskStore,
  recorder: TaskRecorder,
  { taskId, token }: TaskRecording,
  leaving: AbortSignal,
): Promise<void> {
  const stored = await retryWhileDatabaseDown(() => store.loadTask(taskId), leaving);
  if (!stored) return;
  const ending = recorder.continueRecording(stored, token);
  const end = statusUpdate(ending, 'TASK_STATE_FAILED', 'What the agent answered could not be stored.');
  ending.recordEvent({ ...end, jobs: [endChildrenJob(taskId)] });
  await ending.flushEvents();
}
