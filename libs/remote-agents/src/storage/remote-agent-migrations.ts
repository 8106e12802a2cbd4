import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The cards of agents that were called: the one that is pinned, and one that was seen since and waits to be accepted. */
export class CreateCalleeCard1700000000820 implements MigrationInterface {
  readonly name = 'CreateCalleeCard1700000000820';

  async up(runner: QueryRunner): Promise<void> {
    // json, not jsonb: a card is kept as it came, with characters that jsonb does not take.
    await runner.query(`
      CREATE TABLE callee_card (
        id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
        tenant text COLLATE "C" NOT NULL,
        url text COLLATE "C" NOT NULL,
        hash text COLLATE "C" NOT NULL,
        name text NOT NULL,
        card json,
        seen_hash text COLLATE "C",
        seen_name text,
        seen_card json,
        first_seen_at timestamptz NOT NULL DEFAULT now(),
        last_seen_at timestamptz NOT NULL DEFAULT now(),
        accepted_at timestamptz,
        accepted_by text,
        UNIQUE (tenant, url)
      )`);
    await runner.query(`
      CREATE TABLE callee_card_change (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        card_id uuid NOT NULL REFERENCES callee_card ON DELETE CASCADE,
        from_hash text COLLATE "C" NOT NULL,
        to_hash text COLLATE "C" NOT NULL,
        significant boolean NOT NULL,
        changes json NOT NULL,
        times integer NOT NULL DEFAULT 1,
        first_seen_at timestamptz NOT NULL DEFAULT now(),
        last_seen_at timestamptz NOT NULL DEFAULT now(),
        accepted_at timestamptz,
        accepted_by text,
        UNIQUE (card_id, from_hash, to_hash)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE callee_card_change');
    await runner.query('DROP TABLE callee_card');
  }
}

export const REMOTE_AGENT_MIGRATIONS = [CreateCalleeCard1700000000820];
