import type { MigrationInterface, QueryRunner } from 'typeorm';
import {
  IndexRunChildTask1700000000944,
  WakeAskingRuns1700000000370,
  WakeClaimedRuns1700000000380,
  WakeRunsOfCallers1700000001370,
} from './child-news-migration.js';
import { CreateRemoteLook1700000000450 } from './remote-look-migration.js';
import { FillRunQuestions1700000000330 } from './question-migration.js';
import { CreateRemoteContext1700000000381 } from './remote-context-migration.js';
import { CreateRunRevision1700000000342 } from './run-revision-migration.js';
import { CreateWorkflowSummary1700000000341 } from './summary-migration.js';

/** The tables of workflows. Names and ids are compared as bytes. */
export class CreateWorkflow1700000000300 implements MigrationInterface {
  readonly name = 'CreateWorkflow1700000000300';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE workflow (
        tenant text COLLATE "C" NOT NULL DEFAULT '',
        name text COLLATE "C" NOT NULL,
        -- The newest one. It never goes back: a name that is used again after a delete continues it.
        revision bigint NOT NULL CHECK (revision > 0),
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,
        deleted_at timestamptz,
        PRIMARY KEY (tenant, name)
      )`);
    // json, not jsonb: a caller's text is kept as it was sent, also \\u0000, which jsonb refuses.
    await runner.query(`
      CREATE TABLE workflow_revision (
        tenant text COLLATE "C" NOT NULL DEFAULT '',
        name text COLLATE "C" NOT NULL,
        revision bigint NOT NULL,
        definition json NOT NULL,
        created_at timestamptz NOT NULL,
        PRIMARY KEY (tenant, name, revision),
        CONSTRAINT workflow_revision_workflow FOREIGN KEY (tenant, name) REFERENCES workflow (tenant, name)
      )`);
    // Rows of older revisions may linger: a reader compares the revision with that of the workflow.
    await runner.query(`
      CREATE TABLE workflow_node (
        tenant text COLLATE "C" NOT NULL DEFAULT '',
        node_id text COLLATE "C" NOT NULL,
        name text COLLATE "C" NOT NULL,
        revision bigint NOT NULL,
        PRIMARY KEY (tenant, node_id, name, revision),
        CONSTRAINT workflow_node_workflow FOREIGN KEY (tenant, name) REFERENCES workflow (tenant, name)
      )`);
    // Counts saves and deletes: one row to read tells a reader of all workflows whether to read them again.
    await runner.query(`
      CREATE TABLE workflow_version (
        tenant text COLLATE "C" PRIMARY KEY,
        version bigint NOT NULL
      )`);
    await runner.query('CREATE INDEX workflow_node_workflow ON workflow_node (tenant, name, revision)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE workflow_version');
    await runner.query('DROP TABLE workflow_node');
    await runner.query('DROP TABLE workflow_revision');
    await runner.query('DROP TABLE workflow');
  }
}

/** The Tasks that runs have at agents outside this service; local ones have rows of their own. */
export class CreateRunChild1700000000310 implements MigrationInterface {
  readonly name = 'CreateRunChild1700000000310';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE run_child (
        run_id text COLLATE "C" NOT NULL,
        node_id text COLLATE "C" NOT NULL,
        attempt integer NOT NULL,
        task_id text NOT NULL,
        agent_url text NOT NULL,
        PRIMARY KEY (run_id, node_id, attempt)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE run_child');
  }
}

/** Outcomes of cancels that were repeated after their run had ended. */
export class CreateRunCancel1700000000320 implements MigrationInterface {
  readonly name = 'CreateRunCancel1700000000320';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE run_cancel (
        run_id text COLLATE "C" NOT NULL,
        node_id text COLLATE "C" NOT NULL,
        attempt integer NOT NULL,
        outcome text COLLATE "C" NOT NULL,
        recorded_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (run_id, node_id, attempt)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE run_cancel');
  }
}

/** Revisions that saved workflows run. They are kept as long as those workflows. */
export class CreateWorkflowPin1700000000340 implements MigrationInterface {
  readonly name = 'CreateWorkflowPin1700000000340';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE workflow_pin (
        tenant text COLLATE "C" NOT NULL,
        parent text COLLATE "C" NOT NULL,
        parent_revision bigint NOT NULL,
        name text COLLATE "C" NOT NULL,
        revision bigint NOT NULL,
        PRIMARY KEY (tenant, parent, parent_revision, name, revision),
        CONSTRAINT workflow_pin_parent FOREIGN KEY (tenant, parent, parent_revision)
          REFERENCES workflow_revision (tenant, name, revision) ON DELETE CASCADE,
        CONSTRAINT workflow_pin_child FOREIGN KEY (tenant, name, revision)
          REFERENCES workflow_revision (tenant, name, revision)
      )`);
    await runner.query('CREATE INDEX workflow_pin_child ON workflow_pin (tenant, name, revision)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE workflow_pin');
  }
}

/**
 * The newest revisions, each with a version that changes with the row, even if the definition was changed by hand. A
 * Task may be created under the condition that they still hold (see Premise).
 */
export class ViewNewestWorkflow1700000000350 implements MigrationInterface {
  readonly name = 'ViewNewestWorkflow1700000000350';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE VIEW workflow_newest AS
      SELECT workflow.tenant, workflow.name, workflow.revision::text || '/' || saved.xmin::text AS version
      FROM workflow JOIN workflow_revision AS saved USING (tenant, name, revision)
      WHERE workflow.deleted_at IS NULL`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP VIEW workflow_newest');
  }
}

/** The folder of files from which a workflow was last applied. Only workflows of the same folder may be pruned. */
export class CreateWorkflowMark1700000000360 implements MigrationInterface {
  readonly name = 'CreateWorkflowMark1700000000360';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE workflow_mark (
        tenant text COLLATE "C" NOT NULL,
        name text COLLATE "C" NOT NULL,
        mark text COLLATE "C" NOT NULL,
        PRIMARY KEY (tenant, name),
        CONSTRAINT workflow_mark_workflow FOREIGN KEY (tenant, name) REFERENCES workflow (tenant, name)
      )`);
    await runner.query('CREATE INDEX workflow_mark_mark ON workflow_mark (tenant, mark, name)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE workflow_mark');
  }
}

/** The schema of this lib, in order. */
export const ORCHESTRATOR_MIGRATIONS = [
  CreateWorkflow1700000000300,
  CreateRunChild1700000000310,
  CreateRunCancel1700000000320,
  FillRunQuestions1700000000330,
  CreateWorkflowPin1700000000340,
  ViewNewestWorkflow1700000000350,
  CreateWorkflowMark1700000000360,
  WakeAskingRuns1700000000370,
  WakeClaimedRuns1700000000380,
  IndexRunChildTask1700000000944,
  CreateWorkflowSummary1700000000341,
  CreateRunRevision1700000000342,
  CreateRemoteContext1700000000381,
  CreateRemoteLook1700000000450,
  WakeRunsOfCallers1700000001370,
];
