import { Column, Entity, type MigrationInterface, PrimaryColumn, type QueryRunner } from 'typeorm';

@Entity('registered_agent')
export class RegisteredAgentRow {
  @PrimaryColumn('text') tenant!: string;
  @PrimaryColumn('text') name!: string;
  @Column('text') url!: string;
  /** Name of the stored credential that authenticates calls to the agent. */
  @Column('text', { nullable: true }) auth!: string | null;
  @Column('json') policy!: object;
  /** Card of the agent in the form of A2A 1.0, as it was when the agent was saved. */
  @Column('json') card!: object;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') updated_at!: Date;
  /**
   * Label of the source from which the agent was last written by the command `apply`, such as a folder of files; null
   * if it never was.
   */
  @Column('text', { nullable: true }) mark!: string | null;
}

/**
 * Creates the table of registered agents, and the table that maps each Task of this service to the agent's Task for
 * which it stands. The ids that the agent assigns are in no log and in no response.
 */
class CreateRegisteredAgent1700000001070 implements MigrationInterface {
  readonly name = 'CreateRegisteredAgent1700000001070';

  async up(runner: QueryRunner): Promise<void> {
    // json, not jsonb: a card is stored as received, with characters that jsonb rejects.
    await runner.query(`
      CREATE TABLE registered_agent (
        tenant text COLLATE "C" NOT NULL,
        name text COLLATE "C" NOT NULL,
        url text NOT NULL,
        auth text COLLATE "C",
        policy json NOT NULL,
        card json NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (tenant, name)
      )`);
    await runner.query(`
      CREATE TABLE registered_agent_task (
        task_id text COLLATE "C" PRIMARY KEY,
        -- Digests of who talks to which agent, without and with the context.
        talk_key text COLLATE "C" NOT NULL,
        context_key text COLLATE "C" NOT NULL,
        -- The Message of the newest turn.
        message_id text COLLATE "C" NOT NULL,
        options json NOT NULL,
        begun_at timestamptz NOT NULL DEFAULT now(),
        remote_task_id text COLLATE "C",
        remote_context_id text COLLATE "C",
        -- The Message of the turn that asked the caller what to do about a lost Task.
        asked_by text COLLATE "C"
      )`);
    await runner.query(`
      CREATE INDEX registered_agent_context ON registered_agent_task (context_key, begun_at)
      WHERE remote_context_id IS NOT NULL`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE registered_agent_task');
    await runner.query('DROP TABLE registered_agent');
  }
}

/**
 * Adds the columns and the table for limits that all replicas share: `has_slot` marks the Tasks that count toward
 * `concurrency`, and `free_at` is the time from which the next Message to an agent may be sent.
 */
class LimitRegisteredAgent1700000001071 implements MigrationInterface {
  readonly name = 'LimitRegisteredAgent1700000001071';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE registered_agent_task
        ADD COLUMN agent_key text COLLATE "C" NOT NULL DEFAULT '',
        ADD COLUMN has_slot boolean NOT NULL DEFAULT false`);
    await runner.query(
      'CREATE INDEX registered_agent_slot ON registered_agent_task (agent_key, task_id) WHERE has_slot',
    );
    await runner.query(`
      CREATE TABLE registered_agent_rate (
        agent_key text COLLATE "C" PRIMARY KEY,
        -- When the next Message may go.
        free_at timestamptz NOT NULL
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE registered_agent_rate');
    await runner.query('ALTER TABLE registered_agent_task DROP COLUMN agent_key, DROP COLUMN has_slot');
  }
}

/**
 * Adds the id of the execution that began a turn. If an execution repeats its INSERT after a lost response, this id
 * shows that the stored turn is its own and not the turn of an earlier execution.
 */
class BeginRegisteredAgentTurn1700000001072 implements MigrationInterface {
  readonly name = 'BeginRegisteredAgentTurn1700000001072';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE registered_agent_task ADD COLUMN begun_by text COLLATE "C" NOT NULL DEFAULT ''`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE registered_agent_task DROP COLUMN begun_by');
  }
}

/**
 * Adds a column with the key of the turn whose Message has certainly not been sent yet, because the turn waits for the
 * agent. NULL, as in rows of earlier versions, means that the Message may have been sent.
 */
class NoteUnsentMessage1700000001073 implements MigrationInterface {
  readonly name = 'NoteUnsentMessage1700000001073';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE registered_agent_task ADD COLUMN unsent_message text COLLATE "C"');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE registered_agent_task DROP COLUMN unsent_message');
  }
}

/**
 * Adds the columns of parked Tasks: the key of the webhook by which the agent reports on the Task, and the time at
 * which the agent is polled next.
 */
class ParkRegisteredAgentTask1700000001074 implements MigrationInterface {
  readonly name = 'ParkRegisteredAgentTask1700000001074';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE registered_agent_task
        -- Key of the newest webhook. Its token is derived from the key, and stored nowhere.
        ADD COLUMN webhook text COLLATE "C",
        -- A notification has come that no reading of the agent's Task covers yet.
        ADD COLUMN is_notified boolean NOT NULL DEFAULT false,
        -- Digest of the agent's Task when the Task was parked.
        ADD COLUMN parked_digest text COLLATE "C",
        -- When a parked Task is polled next, and the pause after that in seconds; NULL if the Task is not parked.
        ADD COLUMN poll_at timestamptz,
        ADD COLUMN poll_pause float8`);
    await runner.query(`
      CREATE UNIQUE INDEX registered_agent_webhook ON registered_agent_task (webhook) WHERE webhook IS NOT NULL`);
    await runner.query(`
      CREATE INDEX registered_agent_poll ON registered_agent_task (poll_at) WHERE poll_at IS NOT NULL`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE registered_agent_task DROP COLUMN webhook, DROP COLUMN is_notified, DROP COLUMN parked_digest,
        DROP COLUMN poll_at, DROP COLUMN poll_pause`);
  }
}

/**
 * Adds the label of the source, such as a folder of files, from which the command `apply` last wrote an agent. Its
 * option `prune` deletes only agents with the label of the applied source.
 */
class MarkRegisteredAgent1700000001390 implements MigrationInterface {
  readonly name = 'MarkRegisteredAgent1700000001390';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE registered_agent ADD COLUMN mark text COLLATE "C"');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE registered_agent DROP COLUMN mark');
  }
}

const WORKFLOWS = `
  SELECT workflow.tenant, workflow.name, workflow.revision::text || '/' || saved.xmin::text AS version
  FROM workflow JOIN workflow_revision AS saved USING (tenant, name, revision)
  WHERE workflow.deleted_at IS NULL`;

/**
 * Adds registered agents to the view of the newest revisions, so that a Task may be created under the precondition that
 * the definition is current. A workflow may have the same name as an agent: the view tells them apart because the
 * version of an agent begins with `agent/`.
 */
class ViewNewestRegisteredAgent1700000001075 implements MigrationInterface {
  readonly name = 'ViewNewestRegisteredAgent1700000001075';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE OR REPLACE VIEW workflow_newest AS ${WORKFLOWS}
      UNION ALL
      SELECT tenant, name, 'agent/' || (extract(epoch FROM updated_at) * 1000000)::bigint::text FROM registered_agent`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE OR REPLACE VIEW workflow_newest AS ${WORKFLOWS}`);
  }
}

/** Adds the time that was reserved for sending the Message of a turn, by the limit `perMinute` of its agent. */
class KeepTimeOfMessage1700000001392 implements MigrationInterface {
  readonly name = 'KeepTimeOfMessage1700000001392';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE registered_agent_task ADD COLUMN may_send_at timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE registered_agent_task DROP COLUMN may_send_at');
  }
}

/** Replaces the index of due polls by one that begins with the agent, so that a sweep takes few polls of each agent. */
class PollRegisteredAgentsInTurn1700000001393 implements MigrationInterface {
  readonly name = 'PollRegisteredAgentsInTurn1700000001393';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE INDEX registered_agent_poll_in_turn ON registered_agent_task (agent_key, poll_at)
      WHERE poll_at IS NOT NULL`);
    await runner.query('DROP INDEX registered_agent_poll');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE INDEX registered_agent_poll ON registered_agent_task (poll_at) WHERE poll_at IS NOT NULL`);
    await runner.query('DROP INDEX registered_agent_poll_in_turn');
  }
}

export const REGISTERED_AGENT_MIGRATIONS = [
  CreateRegisteredAgent1700000001070,
  LimitRegisteredAgent1700000001071,
  BeginRegisteredAgentTurn1700000001072,
  NoteUnsentMessage1700000001073,
  ParkRegisteredAgentTask1700000001074,
  ViewNewestRegisteredAgent1700000001075,
  MarkRegisteredAgent1700000001390,
  KeepTimeOfMessage1700000001392,
  PollRegisteredAgentsInTurn1700000001393,
];
