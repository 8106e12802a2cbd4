import type { Job } from '#libs/jobs';

/** Name of the job that resumes a parked Task at its time. */
export const WAKE = 'tasks.wake';

/** Returns the job that wakes a Task. A Task has at most one pending wake job, since it is parked until one time. */
export function wakeJob(taskId: string, runAt: Date): Job {
  return { name: WAKE, payload: { taskId }, key: `${WAKE}/${taskId}`, runAt };
}

/** Returns the Task of a wake job. @throws TypeError for a payload of another shape */
export function readWakePayload(payload: unknown): { taskId: string } {
  const { taskId } = (payload ?? {}) as Record<string, unknown>;
  if (typeof taskId !== 'string') throw new TypeError('It names no task');
  return { taskId };
}
