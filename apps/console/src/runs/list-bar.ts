import type { BarPart } from '../graph/card-data.js';
import type { ListPicture } from './node-picture.js';

/** Statuses of entries, in the order in which a bar shows them. */
const ORDER = ['completed', 'failed', 'canceled', 'skipped', 'input-required', 'running', 'pending'];

/**
 * Returns the parts of a list's bar: the number of entries by status. Entries without a status count as pending, or as
 * skipped once the node has ended.
 */
export function barOf({ items, counts }: ListPicture, status: string): BarPart[] {
  const known = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const rest = Math.max(0, items.length - known);
  const ended = ['completed', 'failed', 'canceled', 'skipped'].includes(status);
  const all: Record<string, number> = { ...counts };
  if (rest > 0) all[ended ? 'skipped' : 'pending'] = (all[ended ? 'skipped' : 'pending'] ?? 0) + rest;
  return ORDER.flatMap((it) => ((all[it] ?? 0) > 0 ? [{ status: it, count: all[it] ?? 0 }] : []));
}

/** Returns the progress of a list in a few words: `12 of 100`. */
export function listNote({ items, counts }: ListPicture): string {
  const ended = ['completed', 'failed', 'canceled', 'skipped'].reduce((sum, status) => sum + (counts[status] ?? 0), 0);
  return `${ended} of ${items.length}`;
}
