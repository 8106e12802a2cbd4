import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The way to old keys, which a purge looked through the whole table for. Made while others go on writing, hence without
 * a transaction; what an attempt left that was cut off is made anew.
 */
export class IndexTaskKeyAge1700000000940 implements MigrationInterface {
  readonly name = 'IndexTaskKeyAge1700000000940';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS task_key_age');
    await runner.query('CREATE INDEX CONCURRENTLY task_key_age ON task_key (created_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX CONCURRENTLY task_key_age');
  }
}
