import type { Job } from '#libs/jobs';
import { z } from 'zod';

/** Name of the job. */
export const END_CHILDREN = 'tasks.end-children';

const PAYLOAD = z.object({ taskId: z.string() });

/** Returns the job that cancels the child Tasks of a Task that ended without its executor. */
export function endChildrenJob(taskId: string): Job {
  return { name: END_CHILDREN, key: `${END_CHILDREN}/${taskId}`, payload: { taskId } };
}

/** @throws if the payload is not one of `endChildrenJob` */
export function readEndChildren(payload: unknown): { taskId: string } {
  return PAYLOAD.parse(payload);
}
