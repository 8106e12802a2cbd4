import type { RecordedEvent } from './task-event.js';
import type { LogAdmission, TaskHeader, TaskStore } from './task-store.js';

/** A log that is held whole is there as it was read, as values, and up to twice in the answer that is made of it. */
const COPIES = 4;

/**
 * Reads the log of a Task up to where its header is. A long one is read once it is admitted with all that is made of it,
 * and in its caller's turn. Returns less where the Task is purged meanwhile.
 */
export async function wholeLog(
  store: Pick<TaskStore, 'log' | 'events'>,
  { taskId, lastSequence, tenant, owner }: TaskHeader,
  admission: LogAdmission,
): Promise<readonly RecordedEvent[]> {
  const reader = { tenant, owner };
  const known = await store.log(taskId, reader);
  if (known?.events) return known.events.slice(0, lastSequence);
  if (known) await admission.admit(COPIES * (known.header.size?.log ?? 0));
  return store.events(taskId, 0, lastSequence, reader);
}
