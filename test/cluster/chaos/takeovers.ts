import type { TestDatabase } from '../../support/postgres.js';

/** Times by the database's clock at which the claim of each Task went to another execution, by the Task's id. */
export type Takeovers = ReadonlyMap<string, readonly Date[]>;

/**
 * Has the database write down from now on when a claim is taken over, taken again after it was given back, or renewed for
 * another execution by the same replica: each of them may repeat what was under way. May be called again.
 */
export async function watchTakeovers(query: TestDatabase['query']): Promise<void> {
  await query('CREATE TABLE IF NOT EXISTS chaos_takeover (task_id text NOT NULL, at timestamptz NOT NULL)');
  await query(`
    CREATE OR REPLACE FUNCTION chaos_note_takeover() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO chaos_takeover VALUES (NEW.task_id, clock_timestamp());
      RETURN NULL;
    END $$`);
  await query(`
    CREATE OR REPLACE TRIGGER chaos_takeover AFTER UPDATE OF claim_token ON task FOR EACH ROW
    WHEN (NEW.claim_token IS NOT NULL AND NEW.claim_token IS DISTINCT FROM OLD.claim_token)
    EXECUTE FUNCTION chaos_note_takeover()`);
}

/** Reads what was written down. */
export async function takeovers(query: TestDatabase['query']): Promise<Takeovers> {
  const rows = await query<{ id: string; at: Date[] }>(
    'SELECT task_id AS id, array_agg(at ORDER BY at) AS at FROM chaos_takeover GROUP BY task_id',
  );
  return new Map(rows.map(({ id, at }) => [id, at]));
}
