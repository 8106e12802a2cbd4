import { Logger } from '@nestjs/common';
import { isTerminalState, isWaitingState, type Task } from '#libs/protocol';
import type { Pool } from 'pg';
import { isWorthSnapshot, LONG_LOG, type SnapshotRow, toSnapshot } from './task-snapshot.js';
import type { TaskHeader } from './task-store.js';

/**
 * Snapshots of Tasks with long logs. Each is what its log is folded to up to `sequence`: a log never changes, so one that
 * is behind is where folding goes on from, and one that is missing is made by the next reader.
 */
export class TaskSnapshots {
  private readonly logger = new Logger(TaskSnapshots.name);

  constructor(private readonly pool: Pool) {}

  async read({ taskId, lastSequence }: TaskHeader, artifacts: boolean): Promise<SnapshotRow | undefined> {
    if (lastSequence <= LONG_LOG) return undefined;
    const { rows } = await this.pool.query<SnapshotRow>({
      name: artifacts ? 'task-snapshot' : 'task-snapshot-told',
      text: `SELECT sequence, task::text, ${artifacts ? 'artifacts::text' : 'NULL AS artifacts'} FROM task_snapshot
             WHERE task_id = $1 AND sequence <= $2`,
      values: [taskId, lastSequence],
    });
    return rows[0];
  }

  /**
   * Keeps a Task that was folded from its whole log, unless it goes on or is not worth it. Never fails: whoever reads
   * has what he wanted.
   * @param from the last event that came out of a snapshot
   */
  async keep(header: TaskHeader, task: Task, bytes: number, from: number): Promise<void> {
    const { taskId, lastSequence, state, updatedAt, size } = header;
    const settled = isTerminalState(state) || isWaitingState(state);
    if (!settled || lastSequence - from <= LONG_LOG || !isWorthSnapshot(lastSequence, bytes)) return;
    const snapshot = toSnapshot(task);
    const folded = [snapshot.task, snapshot.artifacts];
    const values = [taskId, lastSequence, ...folded, size?.log, size?.artifacts, state, updatedAt];
    try {
      await this.pool.query({ name: 'keep-snapshot', text: KEEP, values });
    } catch (error) {
      this.logger.warn({ err: error, taskId }, 'A task was read, but not kept folded; the next reader tries again');
    }
  }
}

// A standby that took over may have another event of that sequence. A time comes here in milliseconds.
const AS_READ = `
  task_id = $1 AND last_sequence = $2 AND state = $7 AND date_trunc('milliseconds', updated_at) = $8`;

// Only as long as the Task is there, and is as it was read; what was measured is kept as well.
const KEEP = `
  WITH kept AS (
    INSERT INTO task_snapshot (task_id, sequence, task, artifacts)
    SELECT task_id, last_sequence, $3::json, $4::json FROM task WHERE ${AS_READ}
    ON CONFLICT (task_id) DO UPDATE
      SET sequence = EXCLUDED.sequence, task = EXCLUDED.task, artifacts = EXCLUDED.artifacts
      WHERE task_snapshot.sequence < EXCLUDED.sequence
  )
  UPDATE task SET log_bytes = $5, artifact_bytes = $6
  WHERE ${AS_READ} AND log_bytes IS NULL AND $5::int IS NOT NULL`;
