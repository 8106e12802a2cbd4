import type { MigrationInterface, QueryRunner } from 'typeorm';
import { WRITER_SETTING } from '../journal/journal-sql.js';

/**
 * Counts Tasks by tenant, owner, agent and state. Triggers update the counts in the statement that creates, updates or
 * deletes Tasks, so their sum over the writers is always exact. Each journal has rows of its own, so that no journal
 * waits for another one's commit. All other writers share the rows of the writer `''` (see TaskCounts).
 */
export class CreateTaskCount1700000000131 implements MigrationInterface {
  readonly name = 'CreateTaskCount1700000000131';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE task_count (
        tenant text COLLATE "C" NOT NULL,
        owner text COLLATE "C" NOT NULL,
        agent text COLLATE "C" NOT NULL,
        state text COLLATE "C" NOT NULL,
        writer text COLLATE "C" NOT NULL,
        tasks bigint NOT NULL,
        PRIMARY KEY (tenant, owner, agent, state, writer)
      ) WITH (fillfactor = 50)`);
    await runner.query(`
      CREATE FUNCTION task_count_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF TG_OP = 'INSERT' THEN ${counted('SELECT tenant, owner, agent, state, 1 AS n FROM made')};
        ELSIF TG_OP = 'DELETE' THEN ${counted('SELECT tenant, owner, agent, state, -1 AS n FROM gone')};
        ELSE ${counted(`SELECT tenant, owner, agent, state, 1 AS n FROM made
                        UNION ALL SELECT tenant, owner, agent, state, -1 FROM gone`)};
        END IF;
        RETURN NULL;
      END $$`);
    // The triggers lock the table for writers until the commit, so the count below is complete.
    for (const [operation, tables] of [
      ['INSERT', 'NEW TABLE AS made'],
      ['UPDATE', 'OLD TABLE AS gone NEW TABLE AS made'],
      ['DELETE', 'OLD TABLE AS gone'],
    ]) {
      await runner.query(`
        CREATE TRIGGER task_counted_${operation!.toLowerCase()} AFTER ${operation} ON task REFERENCING ${tables}
        FOR EACH STATEMENT EXECUTE FUNCTION task_count_change()`);
    }
    await runner.query(`
      INSERT INTO task_count
      SELECT tenant, owner, agent, state, '', count(*) FROM task GROUP BY tenant, owner, agent, state`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const operation of ['insert', 'update', 'delete']) {
      await runner.query(`DROP TRIGGER task_counted_${operation} ON task`);
    }
    await runner.query('DROP FUNCTION task_count_change');
    await runner.query('DROP TABLE task_count');
  }
}

/**
 * Returns a statement that adds the differences `n` of the query `moved` to the counts, in the order of their keys: two
 * such statements never deadlock.
 */
function counted(moved: string): string {
  return `
    INSERT INTO task_count AS held (tenant, owner, agent, state, writer, tasks)
    SELECT tenant, owner, agent, state, coalesce(current_setting('${WRITER_SETTING}', true), ''), sum(n)
    FROM (${moved}) AS moved GROUP BY tenant, owner, agent, state HAVING sum(n) <> 0
    ORDER BY tenant, owner, agent, state
    ON CONFLICT (tenant, owner, agent, state, writer) DO UPDATE SET tasks = held.tasks + EXCLUDED.tasks`;
}

const SCOPE = 'tenant, owner, agent, state';

/**
 * Appends count differences and adds them to the sums later. Each commit of a journal appends its differences to
 * `task_count_rest`, whose rows are never updated. CountFolding adds them to `task_count_folded` from time to time. The
 * sum of both tables is exact in every snapshot. A view with the former table's name shows that sum, also to replicas
 * of the previous version.
 */
export class AppendTaskCounts1700000000310 implements MigrationInterface {
  readonly name = 'AppendTaskCounts1700000000310';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('LOCK TABLE task IN SHARE ROW EXCLUSIVE MODE');
    await runner.query('ALTER TABLE task_count RENAME TO task_count_folded');
    await runner.query('ALTER INDEX task_count_pkey RENAME TO task_count_folded_pkey');
    await runner.query(`
      CREATE TABLE task_count_rest (
        writer text COLLATE "C" NOT NULL,
        -- In the order of the commits of a writer.
        id bigint GENERATED ALWAYS AS IDENTITY,
        tenant text COLLATE "C" NOT NULL,
        owner text COLLATE "C" NOT NULL,
        agent text COLLATE "C" NOT NULL,
        state text COLLATE "C" NOT NULL,
        tasks bigint NOT NULL,
        PRIMARY KEY (writer, id)
      )`);
    // Differences up to here are folded and deleted: readers start after them, past the dead rows that a held snapshot
    // keeps.
    await runner.query(`
      CREATE TABLE task_count_mark (
        writer text COLLATE "C" PRIMARY KEY,
        folded bigint NOT NULL
      ) WITH (fillfactor = 50)`);
    await runner.query(VIEW);
    await runner.query(COUNT);
    await runner.query(KEEP_WRITER);
    await runner.query(`
      CREATE TRIGGER task_writer_kept BEFORE DELETE ON task_writer FOR EACH ROW EXECUTE FUNCTION task_writer_keep()`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('LOCK TABLE task, task_count_rest IN ACCESS EXCLUSIVE MODE');
    await runner.query('DROP TRIGGER task_writer_kept ON task_writer');
    await runner.query('DROP FUNCTION task_writer_keep');
    await runner.query(`
      INSERT INTO task_count_folded AS held (${SCOPE}, writer, tasks)
      SELECT ${SCOPE}, writer, sum(tasks) FROM task_count_rest GROUP BY ${SCOPE}, writer
      ON CONFLICT (${SCOPE}, writer) DO UPDATE SET tasks = held.tasks + EXCLUDED.tasks`);
    await runner.query('DROP VIEW task_count');
    await runner.query('DROP TABLE task_count_rest, task_count_mark');
    await runner.query('ALTER TABLE task_count_folded RENAME TO task_count');
    await runner.query('ALTER INDEX task_count_folded_pkey RENAME TO task_count_pkey');
    await runner.query(COUNT_BEFORE);
  }
}

/**
 * View of the counts: the sums, and the differences that are not in the sums yet. OFFSET 0 makes PostgreSQL look up the
 * differences of each writer separately by an index, whatever its statistics are.
 */
const VIEW = `
  CREATE VIEW task_count AS
  SELECT ${SCOPE}, writer, tasks FROM task_count_folded
  UNION ALL
  SELECT rest.tenant, rest.owner, rest.agent, rest.state, rest.writer, rest.tasks
  FROM task_writer AS held LEFT JOIN task_count_mark AS mark USING (writer)
  CROSS JOIN LATERAL (
    SELECT * FROM task_count_rest AS rest
    WHERE rest.writer = held.writer AND rest.id > coalesce(mark.folded, 0)
    OFFSET 0
  ) AS rest`;

const MADE = `SELECT ${SCOPE}, 1 AS n FROM made`;
const GONE = `SELECT ${SCOPE}, -1 AS n FROM gone`;

/**
 * Trigger function: for a session of a writer in `task_writer`, appends the count differences to `task_count_rest`; for
 * any other session, adds them to the sums immediately.
 */
const COUNT = `
  CREATE OR REPLACE FUNCTION task_count_change() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    counting text := coalesce(current_setting('parley.writer', true), '');
  BEGIN
    IF counting <> '' AND EXISTS (SELECT FROM task_writer WHERE writer = counting) THEN
      IF TG_OP = 'INSERT' THEN ${appended(MADE)};
      ELSIF TG_OP = 'DELETE' THEN ${appended(GONE)};
      ELSE ${appended(`${MADE} UNION ALL ${GONE}`)};
      END IF;
    ELSE
      IF TG_OP = 'INSERT' THEN ${folded('task_count_folded', 'counting', MADE)};
      ELSIF TG_OP = 'DELETE' THEN ${folded('task_count_folded', 'counting', GONE)};
      ELSE ${folded('task_count_folded', 'counting', `${MADE} UNION ALL ${GONE}`)};
      END IF;
    END IF;
    RETURN NULL;
  END $$`;

const COUNT_BEFORE = `
  CREATE OR REPLACE FUNCTION task_count_change() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    counting text := coalesce(current_setting('parley.writer', true), '');
  BEGIN
    IF TG_OP = 'INSERT' THEN ${folded('task_count', 'counting', MADE)};
    ELSIF TG_OP = 'DELETE' THEN ${folded('task_count', 'counting', GONE)};
    ELSE ${folded('task_count', 'counting', `${MADE} UNION ALL ${GONE}`)};
    END IF;
    RETURN NULL;
  END $$`;

/**
 * Trigger function: prevents the deletion of a writer's row while the writer has differences that are not in the sums
 * yet, which are found only through that row. Replicas of the previous version delete the rows of idle writers.
 */
const KEEP_WRITER = `
  CREATE FUNCTION task_writer_keep() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF EXISTS (SELECT FROM task_count_rest WHERE writer = OLD.writer
      AND id > coalesce((SELECT folded FROM task_count_mark WHERE writer = OLD.writer), 0)) THEN RETURN NULL;
    END IF;
    RETURN OLD;
  END $$`;

function appended(moved: string): string {
  return `
    INSERT INTO task_count_rest (writer, ${SCOPE}, tasks)
    SELECT counting, ${SCOPE}, sum(n) FROM (${moved}) AS moved GROUP BY ${SCOPE} HAVING sum(n) <> 0`;
}

/**
 * Returns a statement that adds the differences `n` of the query `moved` to the counts, in the order of their keys: two
 * such statements never deadlock.
 */
function folded(table: string, writer: string, moved: string): string {
  return `
    INSERT INTO ${table} AS held (${SCOPE}, writer, tasks)
    SELECT ${SCOPE}, ${writer}, sum(n) FROM (${moved}) AS moved GROUP BY ${SCOPE} HAVING sum(n) <> 0
    ORDER BY ${SCOPE}
    ON CONFLICT (${SCOPE}, writer) DO UPDATE SET tasks = held.tasks + EXCLUDED.tasks`;
}
