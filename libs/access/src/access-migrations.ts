import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the table of callers' keys, stored as digests. */
class CreateApiKey1700000000600 implements MigrationInterface {
  readonly name = 'CreateApiKey1700000000600';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE api_key (
        id uuid PRIMARY KEY,
        tenant text COLLATE "C" NOT NULL DEFAULT '',
        -- The caller: what it makes is owned under this name. It may have several keys.
        name text COLLATE "C" NOT NULL,
        digest text COLLATE "C" NOT NULL,
        scopes text[] NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        -- Who made it; absent where the environment brought it.
        created_by text,
        -- From then on it is not valid, be it revoked or rotated. Rows stay: a revoked key never comes back.
        ends_at timestamptz,
        CONSTRAINT api_key_digest UNIQUE (digest)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE api_key');
  }
}

/** Creates the table of unused tickets, stored as digests. */
class CreateSocketTicket1700000000610 implements MigrationInterface {
  readonly name = 'CreateSocketTicket1700000000610';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE socket_ticket (
        digest text COLLATE "C" PRIMARY KEY,
        -- Whose it is, and what he may do.
        tenant text COLLATE "C" NOT NULL,
        owner text COLLATE "C" NOT NULL,
        permissions text[] NOT NULL,
        -- What his access hangs on: a key, or a token that ends.
        key_digest text COLLATE "C",
        token_ends_at timestamptz,
        ends_at timestamptz NOT NULL
      )`);
    await runner.query('CREATE INDEX socket_ticket_ends ON socket_ticket (ends_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE socket_ticket');
  }
}

/** Creates the table of the console's sessions, stored as digests; a ticket ends with the session that requested it. */
class CreateConsoleSession1700000000970 implements MigrationInterface {
  readonly name = 'CreateConsoleSession1700000000970';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE console_session (
        digest text COLLATE "C" PRIMARY KEY,
        tenant text COLLATE "C" NOT NULL,
        owner text COLLATE "C" NOT NULL,
        permissions text[] NOT NULL,
        -- Proof by which the person signed in: api-key, jwt or oidc.
        method text NOT NULL,
        -- The session ends with this key, if the person signed in with a key.
        key_digest text COLLATE "C",
        created_at timestamptz NOT NULL DEFAULT now(),
        ends_at timestamptz NOT NULL
      )`);
    await runner.query('CREATE INDEX console_session_owner ON console_session (tenant, owner, created_at)');
    await runner.query('CREATE INDEX console_session_ends ON console_session (ends_at)');
    await runner.query('ALTER TABLE socket_ticket ADD COLUMN session_digest text COLLATE "C"');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE socket_ticket DROP COLUMN session_digest');
    await runner.query('DROP TABLE console_session');
  }
}

/** Lets a session keep the ID token of the provider, encrypted by a key that only the session's cookie yields. */
class KeepIdToken1700000000971 implements MigrationInterface {
  readonly name = 'KeepIdToken1700000000971';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE console_session ADD COLUMN id_token text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE console_session DROP COLUMN id_token');
  }
}

/** Lets files describe keys: the origin of a key, and the time of the last change of its scopes. */
class KeepKeysInFiles1700000001520 implements MigrationInterface {
  readonly name = 'KeepKeysInFiles1700000001520';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE api_key ADD COLUMN mark text COLLATE "C"');
    await runner.query('ALTER TABLE api_key ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now()');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE api_key DROP COLUMN mark, DROP COLUMN updated_at');
  }
}

/** Migrations of this library, in order. */
export const ACCESS_MIGRATIONS = [
  CreateApiKey1700000000600,
  CreateSocketTicket1700000000610,
  CreateConsoleSession1700000000970,
  KeepIdToken1700000000971,
  KeepKeysInFiles1700000001520,
];
