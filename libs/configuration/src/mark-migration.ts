import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Returns a migration that adds the column `mark` to the table of a kind: the origin, such as a folder of files, from
 * which a row was last applied. `prune` deletes only rows of its own mark.
 * @param name name of the migration, which ends with its timestamp
 */
export function createMarkMigration(table: string, name: string): new () => MigrationInterface {
  return class implements MigrationInterface {
    readonly name = name;

    async up(runner: QueryRunner): Promise<void> {
      await runner.query(`ALTER TABLE ${table} ADD COLUMN mark text COLLATE "C"`);
    }

    async down(runner: QueryRunner): Promise<void> {
      await runner.query(`ALTER TABLE ${table} DROP COLUMN mark`);
    }
  };
}
