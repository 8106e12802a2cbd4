import type { Task } from '#libs/protocol';
import type { TaskStore } from './task-store.js';

/** A Task as it began, with the metadata that it keeps; `undefined` where it is not there. Reads one event. */
export async function begunTask(store: Pick<TaskStore, 'events'>, taskId: string): Promise<Task | undefined> {
  const [first] = await store.events(taskId, 0, 1);
  return first && 'task' in first.event ? first.event.task : undefined;
}
