import type { Job } from '#libs/jobs';
import { z } from 'zod';

/** The job's name. */
export const END_CHILDREN = 'tasks.end-children';

const PAYLOAD = z.object({ taskId: z.string() });

/** Cancels what a Task called for, once the Task has ended in another way than by its executor's own word. */
export function endChildrenJob(taskId: string): Job {
  return { name: END_CHILDREN, key: `${END_CHILDREN}/${taskId}`, payload: { taskId } };
}

/** @throws where a payload is none of `endChildrenJob` */
export function readEndChildren(payload: unknown): { taskId: string } {
  return PAYLOAD.parse(payload);
}
