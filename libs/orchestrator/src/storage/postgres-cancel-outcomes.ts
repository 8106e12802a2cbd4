import { Injectable } from '@nestjs/common';
import { Database } from '#libs/postgres';
import { TaskRetention } from '#libs/tasks';
import { CancelOutcomes, type LaterOutcome } from '../cancel-outcomes.js';

/** CancelOutcomes on PostgreSQL. */
@Injectable()
export class PostgresCancelOutcomes extends CancelOutcomes {
  constructor(
    private readonly database: Database,
    retention: TaskRetention,
  ) {
    super();
    retention.purgeWith('DELETE FROM run_cancel WHERE run_id = ANY($1::text[])');
  }

  async recordOutcome({ runId, node, attempt, outcome }: LaterOutcome): Promise<void> {
    await this.database.pool.query(
      `INSERT INTO run_cancel (run_id, node_id, attempt, outcome) VALUES ($1, $2, $3, $4)
       ON CONFLICT (run_id, node_id, attempt) DO NOTHING`,
      [runId, node, attempt, outcome],
    );
  }

  async listOutcomes(runId: string): Promise<LaterOutcome[]> {
    const { rows } = await this.database.pool.query<LaterOutcome>(
      `SELECT run_id AS "runId", node_id AS node, attempt, outcome FROM run_cancel
       WHERE run_id = $1 ORDER BY node_id, attempt`,
      [runId],
    );
    return rows;
  }
}
