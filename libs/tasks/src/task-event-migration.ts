import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the row of each event to the view `task_event`, so that a page of a long log is found without reading the rest.
 * Earlier versions write and read the view as before.
 */
export class FindEventsByRow1700000000520 implements MigrationInterface {
  readonly name = 'FindEventsByRow1700000000520';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(EVENTS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP VIEW task_event');
    await runner.query(EVENTS.replace(', log.sequence AS row_sequence', ''));
    await runner.query(`
      CREATE TRIGGER task_event_taken INSTEAD OF INSERT ON task_event FOR EACH ROW EXECUTE FUNCTION task_event_take()`);
    await runner.query(`
      CREATE TRIGGER task_event_dropped INSTEAD OF DELETE ON task_event FOR EACH ROW EXECUTE FUNCTION task_event_drop()`);
  }
}

const EVENTS = `
  CREATE OR REPLACE VIEW task_event AS
  SELECT log.task_id, (log.sequence - cardinality(shared.texts) + event.place)::int AS sequence,
         split_part(event.text, E'\\x1f', 1)::json AS payload,
         nullif(split_part(event.text, E'\\x1f', 2), '')::json AS received,
         log.recorded_at, starts_with(event.text, '{"artifactUpdate"') AS artifact, log.sequence AS row_sequence
  FROM task_log AS log
  LEFT JOIN task USING (task_id)
  CROSS JOIN LATERAL (
    SELECT string_to_array(
      replace(replace(
        coalesce(task_log_phrases(log.events), log.payload::text || coalesce(E'\\x1f' || log.received::text, '')),
        E'\\x02', coalesce(task.context_id, '')), E'\\x01', log.task_id), E'\\x1e') AS texts
    OFFSET 0
  ) AS shared
  CROSS JOIN LATERAL unnest(shared.texts) WITH ORDINALITY AS event (text, place)`;
