import type { MigrationInterface, QueryRunner } from 'typeorm';
import { WRITER_SETTING } from './journal-sql.js';

/**
 * Counts Tasks by tenant, owner, agent and state, updated by the database in the statement that creates, updates or
 * deletes them: the sum over the writers is exact, whatever writes. Each journal has its own rows, so that none waits
 * for another's commit; all other writers share those of the writer `''` (see TaskCounts).
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
 * Returns a statement that moves counts in one order: two statements that move the same counts never wait for each
 * other.
 */
function counted(moved: string): string {
  return `
    INSERT INTO task_count AS held (tenant, owner, agent, state, writer, tasks)
    SELECT tenant, owner, agent, state, coalesce(current_setting('${WRITER_SETTING}', true), ''), sum(n)
    FROM (${moved}) AS moved GROUP BY tenant, owner, agent, state HAVING sum(n) <> 0
    ORDER BY tenant, owner, agent, state
    ON CONFLICT (tenant, owner, agent, state, writer) DO UPDATE SET tasks = held.tasks + EXCLUDED.tasks`;
}
