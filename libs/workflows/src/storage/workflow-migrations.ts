import type { MigrationInterface, QueryRunner } from 'typeorm';
import { LIMIT_MIGRATIONS } from '#libs/limits';
import { AdmitRunsByLimits1700000001811, AdmitTurnsByLimits1700000001812 } from './run-limit-migrations.js';
import { AdmitRunsAtOnce1700000001800 } from './run-slot-functions.js';
import { CreateRunSlot1700000001640 } from './run-slot-migrations.js';
import {
  FillRunQuestions1700000000330,
  IndexRunChildTask1700000000944,
  WakeAskingRuns1700000000370,
  WakeClaimedRuns1700000000380,
  WakeForRegisteredAgents1700000001391,
  WakeRunsOfCallers1700000001370,
} from './waiting-run-migrations.js';

/**
 * Creates the table of context ids at remote agents, by a digest of the caller and the agent (see `RemoteContexts`).
 */
class CreateRemoteContext1700000000381 implements MigrationInterface {
  readonly name = 'CreateRemoteContext1700000000381';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE remote_context (
        key text COLLATE "C" PRIMARY KEY,
        context_id text NOT NULL,
        task_id text COLLATE "C" NOT NULL
      )`);
    await runner.query('CREATE INDEX remote_context_task ON remote_context (task_id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE remote_context');
  }
}

/**
 * Creates the tables for polls of remote Tasks. One has the questions whose Tasks resumed without an answer from the
 * run, the other the time of the next poll of each agent.
 */
class CreateRemoteLook1700000000450 implements MigrationInterface {
  readonly name = 'CreateRemoteLook1700000000450';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE remote_moved_on (
        run_id text COLLATE "C" NOT NULL,
        node_id text COLLATE "C" NOT NULL,
        asked text COLLATE "C" NOT NULL,
        PRIMARY KEY (run_id, node_id, asked)
      )`);
    await runner.query(`
      CREATE TABLE remote_look_turn (
        agent text COLLATE "C" PRIMARY KEY,
        next_at timestamptz NOT NULL
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE remote_look_turn');
    await runner.query('DROP TABLE remote_moved_on');
  }
}

const ENDED = `('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')`;

/**
 * Creates the table that records with which revision a rerun began, if that was not the newest one. Such revisions are
 * kept as long as these runs. The migration adds rows for unfinished reruns; a replica of an earlier version adds none.
 */
class CreateRunRevision1700000000342 implements MigrationInterface {
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

/**
 * Creates the table of summaries of the newest revisions, so that cards, directories and limits do not read whole
 * definitions. A replica of an earlier version saves no summary. If the row is missing, or belongs to another revision,
 * the next reader creates the summary.
 */
class CreateWorkflowSummary1700000000341 implements MigrationInterface {
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
    // A definition that is changed by hand in the database is summarized again.
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
    // The remaining columns of a summary are filled when it is first read.
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

/** Creates the tables of workflows. Names and ids are compared as bytes. */
class CreateWorkflow1700000000300 implements MigrationInterface {
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
    // The type is json, not jsonb: the text of a caller is stored as it was sent, including \\u0000, which jsonb
    // rejects.
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
    // Rows of older revisions may remain: a reader compares the revision with that of the workflow.
    await runner.query(`
      CREATE TABLE workflow_node (
        tenant text COLLATE "C" NOT NULL DEFAULT '',
        node_id text COLLATE "C" NOT NULL,
        name text COLLATE "C" NOT NULL,
        revision bigint NOT NULL,
        PRIMARY KEY (tenant, node_id, name, revision),
        CONSTRAINT workflow_node_workflow FOREIGN KEY (tenant, name) REFERENCES workflow (tenant, name)
      )`);
    // The version counts saves and deletes, so that one row tells a reader of all workflows whether to read them again.
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

/** Creates the table of the Tasks that runs have started at remote agents. Local Tasks have rows in `task`. */
class CreateRunChild1700000000310 implements MigrationInterface {
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

/** Creates the table of the outcomes of cancels that were retried after their run had ended. */
class CreateRunCancel1700000000320 implements MigrationInterface {
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

/**
 * Creates the table of the revisions of other workflows that the nodes of saved workflows run. These revisions are kept
 * as long as the workflows that run them.
 */
class CreateWorkflowPin1700000000340 implements MigrationInterface {
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
 * Creates the view of the newest revisions. Each row has a version, which changes with the row, even if the definition
 * is changed by hand. A Task may be created under the precondition that this version is current (see
 * `RevisionPrecondition`).
 */
class ViewNewestWorkflow1700000000350 implements MigrationInterface {
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

/**
 * Creates the table of marks: the origin of a workflow that was applied, such as a folder. `prune` deletes only
 * workflows of the same mark.
 */
class CreateWorkflowMark1700000000360 implements MigrationInterface {
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

/**
 * Adds to each revision its author, the revision that it restores, and the time at which its workflow was created. A
 * replica of an earlier version leaves them null.
 */
class NoteRevisionAuthors1700000001410 implements MigrationInterface {
  readonly name = 'NoteRevisionAuthors1700000001410';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE workflow_revision
        ADD COLUMN author text, ADD COLUMN restored_from bigint, ADD COLUMN history_at timestamptz`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE workflow_revision DROP COLUMN author, DROP COLUMN restored_from, DROP COLUMN history_at`);
  }
}

/** All migrations of this library, in order. */
export const WORKFLOW_MIGRATIONS = [
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
  WakeForRegisteredAgents1700000001391,
  NoteRevisionAuthors1700000001410,
  CreateRunSlot1700000001640,
  AdmitRunsAtOnce1700000001800,
  ...LIMIT_MIGRATIONS,
  AdmitRunsByLimits1700000001811,
  AdmitTurnsByLimits1700000001812,
];
