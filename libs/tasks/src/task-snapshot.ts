import type { Artifact, Task } from '#libs/protocol';
import { jsonBytes } from './log-size.js';

/** A log of more events is worth a snapshot where its Task settles; a shorter one is folded as fast as that is read. */
export const LONG_LOG = 64;
/** What a snapshot is made of has at most so many bytes: it is in memory once more while it is written. */
export const MOST_SNAPSHOT_BYTES = 4 * 1024 * 1024;

/** A Task as JSON, without its Artifacts and they alone. */
export interface TaskSnapshot {
  task: string;
  artifacts?: string;
}

/** The same as the database gives it. */
export interface SnapshotRow {
  sequence: number;
  task: string;
  artifacts: string | null;
}

/** Whether a Task that has settled after so many events and bytes is kept as a snapshot. */
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
