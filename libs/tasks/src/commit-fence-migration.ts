import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Lets journals number their commits themselves, so that they no longer update `task_writer`: its position is where a
 * writer's session began. Replicas of the previous version take it for the newest position. While one is present, as
 * `replica` shows, journals update it as before (see REPORTED in journal-sql.ts). When one joins, the positions are
 * updated before it is admitted: the lock waits for statements that do not see it yet.
 */
export class FenceCommits1700000000312 implements MigrationInterface {
  readonly name = 'FenceCommits1700000000312';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE FUNCTION task_writer_tell() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        LOCK TABLE task_commit IN SHARE MODE;
        UPDATE task_writer AS held SET position = newest.position
        FROM (SELECT writer, (SELECT max(position) FROM task_commit WHERE task_commit.writer = known.writer) AS position
              FROM task_writer AS known) AS newest
        WHERE held.writer = newest.writer AND held.position < newest.position;
        RETURN NULL;
      END $$`);
    await runner.query(`
      CREATE TRIGGER replica_of_before AFTER INSERT OR UPDATE OF lock_key ON replica FOR EACH ROW
      WHEN (NEW.generation IS NULL) EXECUTE FUNCTION task_writer_tell()`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TRIGGER replica_of_before ON replica');
    await runner.query('DROP FUNCTION task_writer_tell');
    await runner.query(`
      UPDATE task_writer AS held SET position = newest.position
      FROM (SELECT writer, max(position) AS position FROM task_commit GROUP BY writer) AS newest
      WHERE held.writer = newest.writer AND held.position < newest.position`);
  }
}

/**
 * Index for a replica's Tasks with a cancel request, without scanning all that it has executed. Created without
 * blocking writers.
 */
export class IndexCancelRequests1700000000313 implements MigrationInterface {
  readonly name = 'IndexCancelRequests1700000000313';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS task_cancel_requested');
    await runner.query(`
      CREATE INDEX CONCURRENTLY task_cancel_requested ON task (replica_id)
      WHERE replica_id IS NOT NULL AND cancel_requested_at IS NOT NULL`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX CONCURRENTLY task_cancel_requested');
  }
}
