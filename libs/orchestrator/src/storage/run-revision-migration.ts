import type { MigrationInterface, QueryRunner } from 'typeorm';

const ENDED = `('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')`;

/**
 * Revisions that runs began with, although there may have been newer ones: they are kept as long as those runs.
 * Unfinished reruns are noted; a replica of an earlier version notes none.
 */
export class CreateRunRevision1700000000342 implements MigrationInterface {
  readonly name = 'CreateRunRevision1700000000342';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE run_revision (
        run_id text COLLATE "C" PRIMARY KEY,
        tenant text COLLATE "C" NOT NULL,
        name text COLLATE "C" NOT NULL,
        revision bigint NOT NULL,
        noted_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT run_revision_revision FOREIGN KEY (tenant, name, revision)
          REFERENCES workflow_revision (tenant, name, revision)
      )`);
    await runner.query('CREATE INDEX run_revision_revision ON run_revision (tenant, name, revision)');
    await runner.query(`
      INSERT INTO run_revision (run_id, tenant, name, revision)
      SELECT rerun.task_id, saved.tenant, saved.name, saved.revision
      FROM (
        SELECT task.task_id, task.tenant, split_part(task.agent, '/', 2) AS name,
               substring(coalesce(log.events, log.payload::text) FROM '"parley/revision":"([0-9]{1,18})"') AS revision
        FROM task JOIN task_log AS log ON log.task_id = task.task_id
          AND log.sequence = (SELECT min(first.sequence) FROM task_log AS first WHERE first.task_id = task.task_id)
        WHERE task.state NOT IN ${ENDED} AND task.parent_task_id IS NULL AND task.agent ~ '^workflows/[^/]+$'
          AND strpos(coalesce(log.events, log.payload::text), '"parley/rerun"') > 0
      ) AS rerun
      JOIN workflow_revision AS saved
        ON saved.tenant = rerun.tenant AND saved.name = rerun.name AND saved.revision = rerun.revision::bigint`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE run_revision');
  }
}
