import type { RecordedEvent } from './task-event.js';
import type { LogAdmission, TaskHeader, TaskStore } from './task-store.js';

/** Number of copies of a whole log in memory: as read, as values, and up to twice in the response. */
const COPIES = 4;

/**
 * Reads the log of a Task up to its header's sequence. A long log is read in its caller's turn, after the admission of
 * all its copies. Returns less if the Task is purged meanwhile.
 */
export async function wholeLog(
  store: Pick<TaskStore, 'readLog' | 'readEvents'>,
  { taskId, lastSequence, tenant, owner }: TaskHeader,
  admission: LogAdmission,
): Promise<readonly RecordedEvent[]> {
  const reader = { tenant, owner };
  const known = await store.readLog(taskId, reader);
  if (known?.events) return known.events.slice(0, lastSequence);
  if (known) await admission.admitBytes(COPIES * (known.header.size?.log ?? 0));
  return store.readEvents(taskId, 0, lastSequence, reader);
}
