import type { Task } from '#libs/protocol';
import type { RecordedEvent } from './task-event.js';
import { TaskFold } from './task-fold.js';
import type { TaskScope, TaskStore } from './task-store.js';

/** A Task as it began, with the metadata that it keeps; `undefined` where it is not there. Reads one event. */
export async function begunTask(store: Pick<TaskStore, 'events'>, taskId: string): Promise<Task | undefined> {
  const [first] = await store.events(taskId, 0, 1);
  return first && 'task' in first.event ? first.event.task : undefined;
}

const PAGE = 500;

/**
 * A Task as it stood at a place in its log, folded page by page; `undefined` where the log ends before that.
 * @param sequence from 1 on
 * @param reader a caller who reads many logs waits for its turn
 */
export async function foldLog(
  store: Pick<TaskStore, 'events'>,
  taskId: string,
  sequence: number,
  reader?: TaskScope,
): Promise<TaskFold | undefined> {
  let fold: TaskFold | undefined;
  for (let folded = 0; folded < sequence;) {
    const events = await store.events(taskId, folded, Math.min(PAGE, sequence - folded), reader);
    if (events.length === 0) return undefined;
    fold = foldEvents(events, fold);
    folded += events.length;
  }
  return fold;
}

/** What events make of a Task: from the first one on, or after what was folded before. */
export function foldEvents(events: readonly RecordedEvent[], fold?: TaskFold): TaskFold | undefined {
  let folded = fold;
  for (const { event } of events) {
    if (folded) folded.apply(event);
    else folded = TaskFold.begin(event);
  }
  return folded;
}
