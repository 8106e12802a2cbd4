import { Injectable } from '@nestjs/common';
import { Database } from '#libs/postgres';
import { CANCEL_WISH, TaskRetention } from '#libs/tasks';
import { Approvals } from '../approvals.js';

/** Approvals on PostgreSQL. */
@Injectable()
export class PostgresApprovals extends Approvals {
  constructor(
    private readonly database: Database,
    retention: TaskRetention,
  ) {
    super();
    retention.purgeWith('DELETE FROM brainstorm_approval WHERE task_id = ANY($1::text[])');
  }

  async noteApproval(brainstormId: string): Promise<void> {
    await this.database.pool.query({
      name: 'brainstorm-approve',
      text: `
        WITH wished AS (${CANCEL_WISH} AND cancel_requested_at IS NULL RETURNING task_id)
        INSERT INTO brainstorm_approval (task_id, approved_at) SELECT task_id, now() FROM wished
        ON CONFLICT (task_id) DO NOTHING`,
      values: [brainstormId],
    });
  }

  async isApproved(brainstormId: string): Promise<boolean> {
    const { rowCount } = await this.database.pool.query({
      name: 'brainstorm-is-approved',
      text: 'SELECT 1 FROM brainstorm_approval WHERE task_id = $1',
      values: [brainstormId],
    });
    return rowCount === 1;
  }
}
