import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Teaches the view `task_event`, and the function that measures a log, the marks at the beginning of events (see
 * log-row.ts). Earlier rows have none.
 */
export class ReadLogPhrases1700000000143 implements MigrationInterface {
  readonly name = 'ReadLogPhrases1700000000143';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(PHRASES);
    await runner.query(EVENTS);
    await runner.query(LOG_BYTES);
  }

  /** Restores the omitted texts in rows, since the earlier version does not know the marks. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query('LOCK TABLE task_log IN ACCESS EXCLUSIVE MODE');
    await runner.query(`SET LOCAL parley.journal = 'on'`);
    await runner.query(`
      UPDATE task_log SET events = task_log_phrases(events)
      WHERE events <> translate(events, E'\\x03\\x04\\x05\\x06', '')`);
    await runner.query(EVENTS.replaceAll('task_log_phrases(log.events)', 'log.events'));
    await runner.query(LOG_BYTES.replaceAll('task_log_phrases(events)', 'events'));
    await runner.query('DROP FUNCTION task_log_phrases');
  }
}

/** Written out, since a migration never changes. */
const PHRASES = `
  CREATE FUNCTION task_log_phrases(events text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT replace(replace(replace(replace(events,
      E'\\x03', E'{"statusUpdate":{"taskId":"\\x01","contextId":"\\x02","status":{"state":"TASK_STATE_WORKING","timestamp":"'),
      E'\\x04', E'{"statusUpdate":{"taskId":"\\x01","contextId":"\\x02","status":{"state":"TASK_STATE_'),
      E'\\x05', E'{"artifactUpdate":{"taskId":"\\x01","contextId":"\\x02","artifact":{"artifactId":"'),
      E'\\x06', ',"metadata":{"parley/event":{"type":"')
  $$`;

/** View as before, with restored texts. */
const EVENTS = `
  CREATE OR REPLACE VIEW task_event AS
  SELECT log.task_id, (log.sequence - cardinality(shared.texts) + event.place)::int AS sequence,
         split_part(event.text, E'\\x1f', 1)::json AS payload,
         nullif(split_part(event.text, E'\\x1f', 2), '')::json AS received,
         log.recorded_at, starts_with(event.text, '{"artifactUpdate"') AS artifact
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

const LOG_BYTES = `
  CREATE OR REPLACE FUNCTION task_log_bytes(of_task text, of_artifacts boolean DEFAULT false)
  RETURNS int LANGUAGE sql STABLE AS $$
    SELECT coalesce(sum(CASE
      WHEN events IS NOT NULL THEN (
        SELECT sum(octet_length(translate(event, E'\\x1f', '')))
        FROM unnest(string_to_array(
          replace(replace(task_log_phrases(events), E'\\x02', (SELECT context_id FROM task WHERE task_id = of_task)),
                  E'\\x01', of_task),
          E'\\x1e')) AS event
        WHERE NOT of_artifacts OR starts_with(event, '{"artifactUpdate"'))
      WHEN NOT of_artifacts OR coalesce(artifact, starts_with(payload::text, '{"artifactUpdate"'))
        THEN octet_length(payload::text) + coalesce(octet_length(received::text), 0)
      END), 0)::int
    FROM task_log WHERE task_id = of_task
  $$`;
