import { throughOutage } from '#libs/postgres';
import type { TaskStore } from '#libs/tasks';

/**
 * The Tasks that agents of this service made for calls of a Task, by what it called the calls. Waits while the database
 * is out of reach.
 * @throws the signal's reason
 */
export async function ownChildren(
  tasks: Pick<TaskStore, 'children'>,
  taskId: string,
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const children = await throughOutage(() => tasks.children(taskId), signal);
  return new Map(children.map((header) => [header.parentReference ?? '', header.taskId]));
}
