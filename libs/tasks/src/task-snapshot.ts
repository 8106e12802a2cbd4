import type { Artifact, Task } from '#libs/protocol';
import { jsonBytes } from './log-size.js';

/** Number of events above which a log is worth a snapshot; a shorter log folds as fast as a snapshot is read. */
export const LONG_LOG = 64;
/** Maximum bytes of a log that gets a snapshot, which is in memory once more while it is written. */
export const MOST_SNAPSHOT_BYTES = 4 * 1024 * 1024;

/** Task as JSON without its Artifacts, and the Artifacts. */
export interface TaskSnapshot {
  task: string;
  artifacts?: string;
}

/** Snapshot as read from the database. */
export interface SnapshotRow {
  sequence: number;
  task: string;
  artifacts: string | null;
}

/** True if a settled Task with so many events and bytes is stored as a snapshot. */
export function isWorthSnapshot(events: number, bytes: number): boolean {
  return events > LONG_LOG && bytes <= MOST_SNAPSHOT_BYTES;
}

export function toSnapshot({ artifacts, ...task }: Task): TaskSnapshot {
  return { task: JSON.stringify(task), ...(artifacts && { artifacts: JSON.stringify(artifacts) }) };
}

export function snapshotBytes({ task, artifacts = '' }: TaskSnapshot): number {
  return jsonBytes(task) + jsonBytes(artifacts);
}

export function fromSnapshot({ task, artifacts }: Omit<SnapshotRow, 'sequence'>): Task {
  return {
    ...(JSON.parse(task) as Task),
    ...(artifacts !== null && { artifacts: JSON.parse(artifacts) as Artifact[] }),
  };
}
