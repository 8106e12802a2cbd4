import { Injectable } from '@nestjs/common';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { Database } from '#libs/postgres';
import { CANCEL_WISH, TaskRetention } from '#libs/tasks';

/**
 * Stores approvals of brainstorms. An approval is a cancel that keeps the result: it is recorded together with the
 * cancel request. The replica that executes the brainstorm reads it when it handles the cancel.
 */
export abstract class Approvals {
  /**
   * Records an approval and the cancel request for its Task, both or neither; resolves when they are durable. Records
   * nothing if a cancel was requested before, or the Task has ended.
   */
  abstract noteApproval(brainstormId: string): Promise<void>;
  /** True if the cancel of a brainstorm is an approval. */
  abstract isApproved(brainstormId: string): Promise<boolean>;
}

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

/** Creates the table of approved brainstorms. Everything else about a brainstorm is in its Task's log. */
class CreateBrainstormApproval1700000000500 implements MigrationInterface {
  readonly name = 'CreateBrainstormApproval1700000000500';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE brainstorm_approval (
        task_id text COLLATE "C" PRIMARY KEY,
        approved_at timestamptz NOT NULL
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE brainstorm_approval');
  }
}

/** Migrations of this library, in order. */
export const BRAINSTORM_MIGRATIONS = [CreateBrainstormApproval1700000000500];
