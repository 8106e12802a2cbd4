import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the tables of files: rows, shared contents, quotas of owners, and leftovers (contents without a row). */
class CreateFile1700000000530 implements MigrationInterface {
  readonly name = 'CreateFile1700000000530';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE file_account (
        tenant text COLLATE "C" NOT NULL,
        owner text COLLATE "C" NOT NULL,
        -- What the owner's contents and files count for. Whoever changes files of an owner locks this row first.
        bytes bigint NOT NULL,
        PRIMARY KEY (tenant, owner)
      )`);
    await runner.query(`
      CREATE TABLE file_content (
        tenant text COLLATE "C" NOT NULL,
        owner text COLLATE "C" NOT NULL,
        -- Hexadecimal.
        sha256 text COLLATE "C" NOT NULL,
        size bigint NOT NULL,
        -- Where the storage has it.
        storage_key text COLLATE "C" NOT NULL,
        PRIMARY KEY (tenant, owner, sha256)
      )`);
    await runner.query(`
      CREATE TABLE file (
        id text COLLATE "C" PRIMARY KEY,
        tenant text COLLATE "C" NOT NULL,
        owner text COLLATE "C" NOT NULL,
        name text NOT NULL,
        media_type text NOT NULL,
        sha256 text COLLATE "C" NOT NULL,
        size bigint NOT NULL,
        -- Whole milliseconds: page tokens name it.
        created_at timestamptz NOT NULL,
        -- From then on the file may be deleted; null: it is kept.
        expires_at timestamptz,
        FOREIGN KEY (tenant, owner, sha256) REFERENCES file_content
      )`);
    await runner.query('CREATE INDEX file_newest ON file (tenant, owner, created_at DESC, id DESC)');
    await runner.query('CREATE INDEX file_of_content ON file (tenant, owner, sha256)');
    await runner.query('CREATE INDEX file_expiring ON file (expires_at) WHERE expires_at IS NOT NULL');
    await runner.query(`
      CREATE TABLE file_leftover (
        storage_key text COLLATE "C" PRIMARY KEY,
        -- From then on the upload counts as given up.
        due_at timestamptz NOT NULL,
        -- True once its content may be gone: no row may name the key any more.
        is_doomed boolean NOT NULL DEFAULT false
      )`);
    await runner.query('CREATE INDEX file_leftover_due ON file_leftover (due_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['file_leftover', 'file', 'file_content', 'file_account']) {
      await runner.query(`DROP TABLE ${table}`);
    }
  }
}

/**
 * Creates the table of references from Tasks to files, which the journal writes with the events. Tasks written by
 * replicas of earlier versions have no rows in it.
 */
class CreateFileUse1700000000531 implements MigrationInterface {
  readonly name = 'CreateFileUse1700000000531';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE file_use (
        file_id text COLLATE "C" NOT NULL REFERENCES file,
        task_id text COLLATE "C" NOT NULL REFERENCES task ON DELETE CASCADE,
        PRIMARY KEY (file_id, task_id)
      )`);
    await runner.query('CREATE INDEX file_use_task ON file_use (task_id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE file_use');
  }
}

/**
 * Drops the foreign key of references, because of which the journal would wait for the deletion of a file. References
 * to a deleted file are deleted with their Tasks.
 */
class ReleaseFileUse1700000000535 implements MigrationInterface {
  readonly name = 'ReleaseFileUse1700000000535';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE file_use DROP CONSTRAINT file_use_file_id_fkey');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DELETE FROM file_use WHERE NOT EXISTS (SELECT FROM file WHERE file.id = file_use.file_id)');
    await runner.query(
      'ALTER TABLE file_use ADD CONSTRAINT file_use_file_id_fkey FOREIGN KEY (file_id) REFERENCES file',
    );
  }
}

/**
 * Adds a column to files: the time until which the owner may not delete the file, since a Task is about to refer to it.
 */
class HoldFile1700000000536 implements MigrationInterface {
  readonly name = 'HoldFile1700000000536';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE file ADD COLUMN held_until timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE file DROP COLUMN held_until');
  }
}

/** Migrations of this library, in order. */
export const FILE_MIGRATIONS = [
  CreateFile1700000000530,
  CreateFileUse1700000000531,
  ReleaseFileUse1700000000535,
  HoldFile1700000000536,
];
