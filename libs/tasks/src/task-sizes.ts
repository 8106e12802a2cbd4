import { Logger } from '@nestjs/common';
import type { Pool } from 'pg';
import { isTerminalState } from '#libs/protocol';
import type { StoredRow } from './task-rows.js';

/** Stores the sizes of logs that a reader had to measure. */
export class TaskSizes {
  private readonly logger = new Logger(TaskSizes.name);

  constructor(private readonly pool: Pool) {}

  /**
   * Stores the measured sizes of Tasks that have ended; others may still grow. Skips locked rows and never fails; the
   * next reader measures again.
   */
  async keepSizes(rows: readonly StoredRow[]): Promise<void> {
    const measured = rows.filter((row) => row.measured && isTerminalState(row.state));
    if (measured.length === 0) return;
    const values = [
      measured.map((row) => row.task_id),
      measured.map((row) => row.last_sequence),
      measured.map((row) => row.log_bytes),
      measured.map((row) => row.artifact_bytes),
    ];
    try {
      await this.pool.query({ name: 'keep-sizes', text: KEEP, values });
    } catch (error) {
      this.logger.warn({ err: error }, 'Tasks were read, but their sizes not kept; the next reader tries again');
    }
  }
}

const KEEP = `
  UPDATE task SET log_bytes = found.log_bytes, artifact_bytes = found.artifact_bytes
  FROM (
    SELECT task.task_id, measured.log_bytes, measured.artifact_bytes
    FROM task JOIN unnest($1::text[], $2::int[], $3::int[], $4::int[])
      AS measured (task_id, last_sequence, log_bytes, artifact_bytes) USING (task_id, last_sequence)
    WHERE task.log_bytes IS NULL
    FOR UPDATE OF task SKIP LOCKED
  ) AS found
  WHERE task.task_id = found.task_id`;
