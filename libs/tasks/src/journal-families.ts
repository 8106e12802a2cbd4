import type { JournalEntry } from './task-store.js';

/**
 * Groups the entries of a batch so that a new Task and its new child Tasks stay together. A child written without its
 * new parent could be fenced because the parent waits by then. Keeps the order of the entries.
 */
export function groupByFamily(entries: readonly JournalEntry[]): JournalEntry[][] {
  const made = new Map(entries.flatMap((entry) => (entry.create ? [[entry.taskId, entry] as const] : [])));
  const families = new Map<string, JournalEntry[]>();
  for (const entry of entries) {
    const root = eldestIn(made, entry).taskId;
    const family = families.get(root);
    if (family) family.push(entry);
    else families.set(root, [entry]);
  }
  return [...families.values()];
}

function eldestIn(made: ReadonlyMap<string, JournalEntry>, entry: JournalEntry): JournalEntry {
  let eldest = entry;
  for (let above = parentIn(made, eldest); above; above = parentIn(made, eldest)) eldest = above;
  return eldest;
}

function parentIn(made: ReadonlyMap<string, JournalEntry>, { create }: JournalEntry): JournalEntry | undefined {
  return create?.header.parentTaskId === undefined ? undefined : made.get(create.header.parentTaskId);
}
