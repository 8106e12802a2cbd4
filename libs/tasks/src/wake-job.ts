import type { Job } from '#libs/jobs';

/** The job that goes on with a parked Task when its time has come. */
export const WAKE = 'tasks.wake';

/** A Task has at most one that has not begun: it is parked until one time. */
export function wakeJob(taskId: string, runAt: Date): Job {
  return { name: WAKE, payload: { taskId }, key: `${WAKE}/${taskId}`, runAt };
}

/** The Task of such a job. @throws TypeError for a payload of another shape */
export function readWakePayload(payload: unknown): { taskId: string } {
  const { taskId } = (payload ?? {}) as Record<string, unknown>;
  if (typeof taskId !== 'string') throw new TypeError('It names no task');
  return { taskId };
}
