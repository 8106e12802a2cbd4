import { Logger } from '@nestjs/common';
import { isTerminalState, isWaitingState, type Task } from '#libs/protocol';
import type { Pool } from 'pg';
import { isWorthSnapshot, LONG_LOG, type SnapshotRow, toSnapshot } from './task-snapshot.js';
import type { TaskHeader } from './task-store.js';

/**
 * Snapshots of Tasks with long logs. Each is the log folded up to `sequence`. Logs never change, so folding continues
 * from an older snapshot, and the next reader creates a missing one.
 */
export class TaskSnapshots {
  private readonly logger = new Logger(TaskSnapshots.name);

  constructor(private readonly pool: Pool) {}

  async readSnapshot({ taskId, lastSequence }: TaskHeader, artifacts: boolean): Promise<SnapshotRow | undefined> {
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
   * Stores a folded Task, unless it is still working or not worth it. Never fails: the reader already has its result.
   * @param from last event covered by an existing snapshot
   */
  async keepSnapshot(header: TaskHeader, task: Task, bytes: number, from: number): Promise<void> {
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

// A promoted standby may have a different event with that sequence. Times are passed in milliseconds.
const AS_READ = `
  task_id = $1 AND last_sequence = $2 AND state = $7 AND date_trunc('milliseconds', updated_at) = $8`;

// Only if the Task still exists as it was read. Measured sizes are stored as well.
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
