import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Columns for cards, directories and limits of a workflow's newest revision, so that none of them reads whole
 * definitions. A replica of an earlier version saves no summary: a missing row, or one of another revision, counts as
 * none, and the next reader creates it.
 */
export class CreateWorkflowSummary1700000000341 implements MigrationInterface {
  readonly name = 'CreateWorkflowSummary1700000000341';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE workflow_summary (
        tenant text COLLATE "C" NOT NULL,
        name text COLLATE "C" NOT NULL,
        revision bigint NOT NULL,
        -- Of the definition as JSON.
        bytes integer NOT NULL,
        -- json, not text: a caller's text may have \\u0000.
        description json,
        interface json,
        nodes json,
        PRIMARY KEY (tenant, name),
        CONSTRAINT workflow_summary_workflow FOREIGN KEY (tenant, name) REFERENCES workflow (tenant, name)
      )`);
    // A definition that is changed by hand is summarized again.
    await runner.query(`
      CREATE FUNCTION forget_workflow_summary() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        DELETE FROM workflow_summary AS held
        WHERE (held.tenant, held.name, held.revision) = (NEW.tenant, NEW.name, NEW.revision);
        RETURN NULL;
      END $$`);
    await runner.query(`
      CREATE TRIGGER workflow_revision_changed AFTER UPDATE OF definition ON workflow_revision
      FOR EACH ROW EXECUTE FUNCTION forget_workflow_summary()`);
    // The rest of a summary is created when it is first read.
    await runner.query(`
      INSERT INTO workflow_summary (tenant, name, revision, bytes)
      SELECT tenant, name, revision, octet_length(saved.definition::text)
      FROM workflow JOIN workflow_revision AS saved USING (tenant, name, revision) WHERE deleted_at IS NULL`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TRIGGER workflow_revision_changed ON workflow_revision');
    await runner.query('DROP FUNCTION forget_workflow_summary()');
    await runner.query('DROP TABLE workflow_summary');
  }
}
