import type { MigrationInterface, QueryRunner } from 'typeorm';
import { callerFlagSql } from '#libs/jobs';
import { briefText, runEventNote, type StreamResponse } from '#libs/protocol';
import { LOOK_AGAIN } from '#libs/workflow-engine';

const WAITING = `('TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED')`;

/** Adds an index to find the runs that have called a Task at a remote agent. */
export class IndexRunChildTask1700000000944 implements MigrationInterface {
  readonly name = 'IndexRunChildTask1700000000944';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS run_child_task');
    await runner.query('CREATE INDEX CONCURRENTLY run_child_task ON run_child (task_id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX CONCURRENTLY run_child_task');
  }
}

/**
 * Adds a trigger: when a Task that a waiting run waits for stops waiting, the same statement makes the run due, on any
 * replica. The trigger skips a run whose row another transaction has locked. The replica that writes that row then
 * finds the change itself.
 */
export class WakeAskingRuns1700000000370 implements MigrationInterface {
  readonly name = 'WakeAskingRuns1700000000370';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE FUNCTION task_moves_on() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE asking text;
      BEGIN
        FOR asking IN
          UPDATE task SET wake_at = least(wake_at, now()) WHERE task_id IN (
            SELECT task_id FROM task
            WHERE task_id = ANY (ARRAY(SELECT run_id FROM run_child WHERE task_id = NEW.task_id) || NEW.parent_task_id)
              AND replica_id IS NULL AND state IN ${WAITING} AND agent LIKE 'workflows/%'
            FOR NO KEY UPDATE SKIP LOCKED)
          RETURNING task_id
        LOOP
          PERFORM graphile_worker.add_job('tasks.wake', json_build_object('taskId', asking),
                                          job_key => 'tasks.wake/' || asking);
        END LOOP;
        RETURN NULL;
      END $$`);
    await runner.query(`
      CREATE TRIGGER task_moved_on AFTER UPDATE OF state ON task FOR EACH ROW
      WHEN (OLD.state IN ${WAITING} AND NEW.state NOT IN ${WAITING} AND NEW.agent LIKE 'workflows/%')
      EXECUTE FUNCTION task_moves_on()`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TRIGGER task_moved_on ON task');
    await runner.query('DROP FUNCTION task_moves_on');
  }
}

/**
 * Changes the trigger `task_moved_on`: it also makes a run due (`wake_at`) that a replica has already claimed in order
 * to pass on a Message. If the run rejects that Message, the replica releases the claim without continuing the run. If
 * another transaction has locked the run's row, a job rechecks the run.
 */
export class WakeClaimedRuns1700000000380 implements MigrationInterface {
  readonly name = 'WakeClaimedRuns1700000000380';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE OR REPLACE FUNCTION task_moves_on() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE asking text;
      BEGIN
        FOR asking IN
          SELECT task_id FROM task
          WHERE task_id = ANY (ARRAY(SELECT run_id FROM run_child WHERE task_id = NEW.task_id) || NEW.parent_task_id)
            AND state IN ${WAITING} AND agent LIKE 'workflows/%'
        LOOP
          UPDATE task SET wake_at = least(wake_at, now()) WHERE task_id = (
            SELECT task_id FROM task WHERE task_id = asking AND state IN ${WAITING} FOR NO KEY UPDATE SKIP LOCKED);
          IF FOUND THEN
            PERFORM graphile_worker.add_job('tasks.wake', json_build_object('taskId', asking),
                                            job_key => 'tasks.wake/' || asking);
          ELSE
            PERFORM graphile_worker.add_job('${LOOK_AGAIN}',
              json_build_object('runId', asking, 'children', json_build_object(NEW.task_id, OLD.last_sequence)),
              job_key => '${LOOK_AGAIN}/' || asking || '/' || NEW.task_id);
          END IF;
        END LOOP;
        RETURN NULL;
      END $$`);
  }

  async down(): Promise<void> {
    // The new function also works with the previous schema, so the old one is not restored.
  }
}

/**
 * Changes the trigger `task_moved_on`: the jobs that it enqueues belong to the caller of the run, so that the jobs of
 * different callers take turns.
 */
export class WakeRunsOfCallers1700000001370 implements MigrationInterface {
  readonly name = 'WakeRunsOfCallers1700000001370';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE OR REPLACE FUNCTION task_moves_on() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE asking record;
      BEGIN
        FOR asking IN
          SELECT task_id, ${callerFlagSql('tenant', 'owner')} AS caller FROM task
          WHERE task_id = ANY (ARRAY(SELECT run_id FROM run_child WHERE task_id = NEW.task_id) || NEW.parent_task_id)
            AND state IN ${WAITING} AND agent LIKE 'workflows/%'
        LOOP
          UPDATE task SET wake_at = least(wake_at, now()) WHERE task_id = (
            SELECT task_id FROM task WHERE task_id = asking.task_id AND state IN ${WAITING}
            FOR NO KEY UPDATE SKIP LOCKED);
          IF FOUND THEN
            PERFORM graphile_worker.add_job('tasks.wake', json_build_object('taskId', asking.task_id),
                                            job_key => 'tasks.wake/' || asking.task_id, flags => ARRAY[asking.caller]);
          ELSE
            PERFORM graphile_worker.add_job('${LOOK_AGAIN}',
              json_build_object('runId', asking.task_id, 'children', json_build_object(NEW.task_id, OLD.last_sequence)),
              job_key => '${LOOK_AGAIN}/' || asking.task_id || '/' || NEW.task_id, flags => ARRAY[asking.caller]);
          END IF;
        END LOOP;
        RETURN NULL;
      END $$`);
  }

  async down(): Promise<void> {
    // The new function also works with the previous schema, so the old one is not restored.
  }
}

/** Changes the trigger `task_moved_on`: it also wakes a run that waits for a Task of a registered agent. */
export class WakeForRegisteredAgents1700000001391 implements MigrationInterface {
  readonly name = 'WakeForRegisteredAgents1700000001391';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(replaceTrigger(`(NEW.agent LIKE 'workflows/%' OR NEW.agent LIKE 'agents/%')`));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(replaceTrigger(`NEW.agent LIKE 'workflows/%'`));
  }
}

function replaceTrigger(ofAgent: string): string {
  return `
    CREATE OR REPLACE TRIGGER task_moved_on AFTER UPDATE OF state ON task FOR EACH ROW
    WHEN (OLD.state IN ${WAITING} AND NEW.state NOT IN ${WAITING} AND ${ofAgent})
    EXECUTE FUNCTION task_moves_on()`;
}

const AT_ONCE = 500;

interface AskingEvent {
  task_id: string;
  payload: StreamResponse;
}

/**
 * Adds questions to the inbox for runs that waited before the inbox existed, as far as their logs contain the
 * questions. The logs are parsed in this process, because the functions of the database reject a text with \u0000.
 */
export class FillRunQuestions1700000000330 implements MigrationInterface {
  readonly name = 'FillRunQuestions1700000000330';

  async up(runner: QueryRunner): Promise<void> {
    const [tables] = (await runner.query(`SELECT to_regclass('task_question') AS questions`)) as {
      questions: unknown;
    }[];
    // Without that table there are no Tasks, and no questions.
    if (!tables?.questions) return;
    for (let after: string | undefined = ''; after !== undefined;) {
      const runs = (await runner.query(WAITING_RUNS, [after, AT_ONCE])) as { task_id: string }[];
      for (const { task_id } of runs) await this.fill(runner, task_id);
      after = runs.length === AT_ONCE ? runs.at(-1)?.task_id : undefined;
    }
  }

  /** Does nothing, because the rows are dropped with their table. */
  async down(): Promise<void> {}

  private async fill(runner: QueryRunner, runId: string): Promise<void> {
    const events = (await runner.query(LAST_WAIT, [runId])) as AskingEvent[];
    for (const { payload } of events) {
      const update = 'statusUpdate' in payload ? payload.statusUpdate : undefined;
      const note = runEventNote(update?.metadata);
      if (note?.type !== 'input.required' || note.node_id === undefined) continue;
      const { question } = note.payload;
      const body = JSON.stringify({
        node: note.node_id,
        text: typeof question === 'string' ? briefText(question) : '',
      });
      await runner.query(FILL, [runId, note.node_id, update?.status.timestamp ?? new Date().toISOString(), body]);
    }
  }
}

const WAITING_RUNS = `
  SELECT task_id FROM task
  WHERE task_id > $1 AND state IN ('TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED')
    AND parent_task_id IS NULL AND agent ~ '^workflows/[^/]+$'
  ORDER BY task_id LIMIT $2`;

/** Selects the events of a run since it last accepted a Message. $1 run. */
const LAST_WAIT = `
  SELECT task_id, payload FROM task_event
  WHERE task_id = $1 AND sequence > (
    SELECT coalesce(max(sequence), 0) FROM task_event WHERE task_id = $1 AND received IS NOT NULL)
  ORDER BY sequence`;

const FILL = `
  INSERT INTO task_question (task_id, key, tenant, owner, agent, since, body)
  SELECT task_id, $2, tenant, owner, agent, $3::timestamptz, $4::json FROM task WHERE task_id = $1
  ON CONFLICT (task_id, key) DO NOTHING`;
