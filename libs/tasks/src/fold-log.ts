import type { Task } from '#libs/protocol';
import type { RecordedEvent } from './task-event.js';
import { TaskFold } from './task-fold.js';
import type { TaskScope, TaskStore } from './task-store.js';

/** Returns a Task as it began, with its metadata; `undefined` if it does not exist. Reads one event. */
export async function begunTask(store: Pick<TaskStore, 'readEvents'>, taskId: string): Promise<Task | undefined> {
  const [first] = await store.readEvents(taskId, 0, 1);
  return first && 'task' in first.event ? first.event.task : undefined;
}

const PAGE = 500;

/**
 * Folds a Task up to a sequence of its log, page by page; `undefined` if the log ends before it.
 * @param sequence from 1
 * @param reader caller whose reads of many logs take turns with those of others
 */
export async function foldLog(
  store: Pick<TaskStore, 'readEvents'>,
  taskId: string,
  sequence: number,
  reader?: TaskScope,
): Promise<TaskFold | undefined> {
  let fold: TaskFold | undefined;
  for (let folded = 0; folded < sequence;) {
    const events = await store.readEvents(taskId, folded, Math.min(PAGE, sequence - folded), reader);
    if (events.length === 0) return undefined;
    fold = foldEvents(events, fold);
    folded += events.length;
  }
  return fold;
}

/** Folds events into a Task, starting from the first event or from an earlier fold. */
export function foldEvents(events: readonly RecordedEvent[], fold?: TaskFold): TaskFold | undefined {
  let folded = fold;
  for (const { event } of events) {
    if (folded) folded.applyEvent(event);
    else folded = TaskFold.beginTask(event);
  }
  return folded;
}
