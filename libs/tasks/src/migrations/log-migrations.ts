import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Renames `task_event` to `task_log`, whose rows may contain several events of a Task (see log-row.ts). A view keeps
 * the old name and shows each event as before, for people and for replicas of the previous version, which read and
 * write it concurrently. A log may contain both layouts; nothing is rewritten.
 */
export class ShareLogRows1700000000142 implements MigrationInterface {
  readonly name = 'ShareLogRows1700000000142';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE task_event RENAME TO task_log');
    await runner.query('ALTER INDEX task_event_pkey RENAME TO task_log_pkey');
    await runner.query('ALTER TABLE task_log ALTER COLUMN payload DROP NOT NULL, ADD COLUMN events text');
    await runner.query(EVENTS_OF_SHARED_ROWS);
    await runner.query(TAKE_EVENT);
    await runner.query(`
      CREATE TRIGGER task_event_taken INSTEAD OF INSERT ON task_event FOR EACH ROW EXECUTE FUNCTION task_event_take()`);
    await runner.query(DROP_EVENT);
    await runner.query(`
      CREATE TRIGGER task_event_dropped INSTEAD OF DELETE ON task_event FOR EACH ROW EXECUTE FUNCTION task_event_drop()`);
    await runner.query(LOG_BYTES_OF_SHARED_ROWS);
  }

  async down(runner: QueryRunner): Promise<void> {
    // Without the lock, events that arrive after the read would be deleted.
    await runner.query('LOCK TABLE task_log IN ACCESS EXCLUSIVE MODE');
    await runner.query(`SET LOCAL parley.journal = 'on'`);
    await runner.query(`
      CREATE TEMPORARY TABLE told ON COMMIT DROP AS
      SELECT * FROM task_event WHERE task_id IN (SELECT task_id FROM task_log WHERE events IS NOT NULL)`);
    await runner.query('DROP VIEW task_event');
    await runner.query('DROP FUNCTION task_event_take, task_event_drop, task_log_bytes');
    await runner.query('DELETE FROM task_log WHERE task_id IN (SELECT task_id FROM told)');
    await runner.query(`
      INSERT INTO task_log (task_id, sequence, payload, received, artifact, recorded_at)
      SELECT task_id, sequence, payload, received, artifact, recorded_at FROM told`);
    await runner.query('ALTER TABLE task_log ALTER COLUMN payload SET NOT NULL, DROP COLUMN events');
    await runner.query('ALTER TABLE task_log RENAME TO task_event');
    await runner.query('ALTER INDEX task_log_pkey RENAME TO task_event_pkey');
  }
}

/**
 * View of single events. It consists of joins, so that a statement that reads many Tasks finds each Task by the index.
 */
const EVENTS_OF_SHARED_ROWS = `
  CREATE VIEW task_event AS
  SELECT log.task_id, (log.sequence - cardinality(shared.texts) + event.place)::int AS sequence,
         split_part(event.text, E'\\x1f', 1)::json AS payload,
         nullif(split_part(event.text, E'\\x1f', 2), '')::json AS received,
         log.recorded_at, starts_with(event.text, '{"artifactUpdate"') AS artifact
  FROM task_log AS log
  LEFT JOIN task USING (task_id)
  CROSS JOIN LATERAL (
    SELECT string_to_array(
      replace(replace(coalesce(log.events, log.payload::text || coalesce(E'\\x1f' || log.received::text, '')),
                      E'\\x02', coalesce(task.context_id, '')), E'\\x01', log.task_id), E'\\x1e') AS texts
    OFFSET 0
  ) AS shared
  CROSS JOIN LATERAL unnest(shared.texts) WITH ORDINALITY AS event (text, place)`;

/** Trigger function: stores an event that an earlier version writes as a row of its own. */
const TAKE_EVENT = `
  CREATE FUNCTION task_event_take() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO task_log (task_id, sequence, payload, received, artifact, recorded_at)
    VALUES (NEW.task_id, NEW.sequence, NEW.payload, NEW.received, NEW.artifact, NEW.recorded_at);
    RETURN NEW;
  END $$`;

/** Trigger function: deletes the log row of an event, with all events of the row, since only whole logs are deleted. */
const DROP_EVENT = `
  CREATE FUNCTION task_event_drop() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    DELETE FROM task_log
    WHERE task_id = OLD.task_id
      AND sequence = (SELECT min(sequence) FROM task_log WHERE task_id = OLD.task_id AND sequence >= OLD.sequence)
      AND sequence - coalesce(cardinality(string_to_array(events, E'\\x1e')), 1) < OLD.sequence;
    RETURN OLD;
  END $$`;

/** SQL function: returns the bytes of a log, or of its Artifact events, for a Task without stored sizes. */
const LOG_BYTES_OF_SHARED_ROWS = `
  CREATE FUNCTION task_log_bytes(of_task text, of_artifacts boolean DEFAULT false) RETURNS int LANGUAGE sql STABLE AS $$
    SELECT coalesce(sum(CASE
      WHEN events IS NOT NULL THEN (
        SELECT sum(octet_length(translate(event, E'\\x1f', '')))
        FROM unnest(string_to_array(
          replace(replace(events, E'\\x02', (SELECT context_id FROM task WHERE task_id = of_task)), E'\\x01', of_task),
          E'\\x1e')) AS event
        WHERE NOT of_artifacts OR starts_with(event, '{"artifactUpdate"'))
      WHEN NOT of_artifacts OR coalesce(artifact, starts_with(payload::text, '{"artifactUpdate"'))
        THEN octet_length(payload::text) + coalesce(octet_length(received::text), 0)
      END), 0)::int
    FROM task_log WHERE task_id = of_task
  $$`;

/**
 * Makes the view `task_event`, and the function that measures a log, restore the texts that marks (control characters)
 * replace at the beginning of events (see log-row.ts). Earlier rows have no marks.
 */
export class ReadLogPhrases1700000000143 implements MigrationInterface {
  readonly name = 'ReadLogPhrases1700000000143';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(PHRASES);
    await runner.query(EVENTS_WITH_PHRASES);
    await runner.query(LOG_BYTES_WITH_PHRASES);
  }

  /** Restores the omitted texts in rows, since the earlier version does not know the marks (control characters). */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query('LOCK TABLE task_log IN ACCESS EXCLUSIVE MODE');
    await runner.query(`SET LOCAL parley.journal = 'on'`);
    await runner.query(`
      UPDATE task_log SET events = task_log_phrases(events)
      WHERE events <> translate(events, E'\\x03\\x04\\x05\\x06', '')`);
    await runner.query(EVENTS_WITH_PHRASES.replaceAll('task_log_phrases(log.events)', 'log.events'));
    await runner.query(LOG_BYTES_WITH_PHRASES.replaceAll('task_log_phrases(events)', 'events'));
    await runner.query('DROP FUNCTION task_log_phrases');
  }
}

/**
 * SQL function: restores the texts that control characters abbreviate in a row. It does not use the constants of
 * log-row.ts, since a migration never changes.
 */
const PHRASES = `
  CREATE FUNCTION task_log_phrases(events text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT replace(replace(replace(replace(events,
      E'\\x03', E'{"statusUpdate":{"taskId":"\\x01","contextId":"\\x02","status":{"state":"TASK_STATE_WORKING","timestamp":"'),
      E'\\x04', E'{"statusUpdate":{"taskId":"\\x01","contextId":"\\x02","status":{"state":"TASK_STATE_'),
      E'\\x05', E'{"artifactUpdate":{"taskId":"\\x01","contextId":"\\x02","artifact":{"artifactId":"'),
      E'\\x06', ',"metadata":{"parley/event":{"type":"')
  $$`;

/** View of single events, in which abbreviated texts are restored. */
const EVENTS_WITH_PHRASES = `
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

const LOG_BYTES_WITH_PHRASES = `
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

/**
 * Adds a column to the view `task_event`: the sequence of the row that contains the event. With it a page of a long log
 * is found without reading the rest. Earlier versions write and read the view as before.
 */
export class FindEventsByRow1700000000520 implements MigrationInterface {
  readonly name = 'FindEventsByRow1700000000520';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(EVENTS_BY_ROW);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP VIEW task_event');
    await runner.query(EVENTS_BY_ROW.replace(', log.sequence AS row_sequence', ''));
    await runner.query(`
      CREATE TRIGGER task_event_taken INSTEAD OF INSERT ON task_event FOR EACH ROW EXECUTE FUNCTION task_event_take()`);
    await runner.query(`
      CREATE TRIGGER task_event_dropped INSTEAD OF DELETE ON task_event FOR EACH ROW EXECUTE FUNCTION task_event_drop()`);
  }
}

const EVENTS_BY_ROW = `
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

/**
 * Creates the table of the prompts of model calls (see PromptLog). Rows have no foreign key, whose check would cost each
 * batch a lookup: the purge of Tasks deletes them.
 */
export class CreateTaskPrompt1700000001410 implements MigrationInterface {
  readonly name = 'CreateTaskPrompt1700000001410';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE task_prompt (
        task_id text COLLATE "C" NOT NULL,
        -- The sequence of the first event that the row was written with.
        sequence integer NOT NULL,
        -- Lines of JSON.
        body text NOT NULL,
        PRIMARY KEY (task_id, sequence)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE task_prompt');
  }
}
