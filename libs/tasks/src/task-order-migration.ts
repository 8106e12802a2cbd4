import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Index for Tasks whose ids contain no time, so that a purge finds them without a full scan. */
export class IndexUntimedTasks1700000000343 implements MigrationInterface {
  readonly name = 'IndexUntimedTasks1700000000343';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS task_untimed');
    await runner.query(`
      CREATE INDEX CONCURRENTLY task_untimed ON task (tenant, agent, created_at) WHERE substr(task_id, 15, 1) <> '7'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX CONCURRENTLY task_untimed');
  }
}

const INDEXES = [
  { name: 'task_agent_order', columns: 'tenant, owner, agent, updated_at, task_id', before: 'task_agent_updated' },
  { name: 'task_owner_order', columns: 'tenant, owner, updated_at, task_id', before: 'task_owner_updated' },
];

/**
 * Reverses the indexes of ListTasks to oldest first: new rows are added at the end, where full pages stay full. With
 * the newest first, every page was split in the middle and stayed half empty. Lists read the indexes backwards. Created
 * without blocking writers; an interrupted attempt is started over.
 */
export class OrderTasksByAge1700000000942 implements MigrationInterface {
  readonly name = 'OrderTasksByAge1700000000942';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const { name, columns, before } of INDEXES) {
      await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
      await runner.query(`CREATE INDEX CONCURRENTLY ${name} ON task (${columns})`);
      await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS ${before}`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const { name, columns, before } of INDEXES) {
      const newestFirst = columns.replace('updated_at, task_id', 'updated_at DESC, task_id DESC');
      await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS ${before}`);
      await runner.query(`CREATE INDEX CONCURRENTLY ${before} ON task (${newestFirst})`);
      await runner.query(`DROP INDEX CONCURRENTLY ${name}`);
    }
  }
}
