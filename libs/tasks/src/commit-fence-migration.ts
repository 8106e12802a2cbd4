import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Journals number their commits themselves, and `task_writer` is not written by them any more: its position is where a
 * writer's session began. A replica of the version before takes that for the newest position. So while one is there, which
 * `replica` shows, journals write it as they did (see REPORTED in journal-sql.ts), and when one joins, the positions are brought
 * up to date before it is let in: the lock waits for statements that do not know of it yet.
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

/** The way to the Tasks of a replica that somebody wishes to cancel, past all that it has executed. Made beside writers. */
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
