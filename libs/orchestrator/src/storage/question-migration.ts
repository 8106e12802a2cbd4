import { briefText, runEventNote, type StreamResponse } from '#libs/protocol';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const AT_ONCE = 500;

interface AskingEvent {
  task_id: string;
  payload: StreamResponse;
}

/**
 * Fills in the questions of runs that waited before the inbox existed, as far as their logs have them. They are read
 * here and not in the database, whose functions reject a text with \u0000.
 */
export class FillRunQuestions1700000000330 implements MigrationInterface {
  readonly name = 'FillRunQuestions1700000000330';

  async up(runner: QueryRunner): Promise<void> {
    const [tables] = (await runner.query(`SELECT to_regclass('task_question') AS questions`)) as {
      questions: unknown;
    }[];
    // Without the table there are no Tasks, and no questions.
    if (!tables?.questions) return;
    for (let after: string | undefined = ''; after !== undefined;) {
      const runs = (await runner.query(WAITING_RUNS, [after, AT_ONCE])) as { task_id: string }[];
      for (const { task_id } of runs) await this.fill(runner, task_id);
      after = runs.length === AT_ONCE ? runs.at(-1)?.task_id : undefined;
    }
  }

  /** Does nothing: the rows are dropped with their table. */
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

/** Events since the run last accepted an answer. */
const LAST_WAIT = `
  SELECT task_id, payload FROM task_event
  WHERE task_id = $1 AND sequence > (
    SELECT coalesce(max(sequence), 0) FROM task_event WHERE task_id = $1 AND received IS NOT NULL)
  ORDER BY sequence`;

const FILL = `
  INSERT INTO task_question (task_id, key, tenant, owner, agent, since, body)
  SELECT task_id, $2, tenant, owner, agent, $3::timestamptz, $4::json FROM task WHERE task_id = $1
  ON CONFLICT (task_id, key) DO NOTHING`;
