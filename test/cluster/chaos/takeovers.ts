import type { TestDatabase } from '../../support/postgres.js';

/** Transfer of a Task's claim to another execution. */
interface Takeover {
  /** Time of the transfer, by the database's clock. */
  at: Date;
  /** Process id of the previous owner, if its session still held its lock at that time. */
  fromPid: number | null;
}

/** Takeovers of each Task in the order of their times, by the Task's id. */
export type Takeovers = ReadonlyMap<string, readonly Takeover[]>;

/**
 * Makes the database record from now on when a claim is taken over, taken again after its release, or renewed for
 * another execution by the same replica: each of these may repeat work in progress. May be called repeatedly.
 */
export async function watchTakeovers(query: TestDatabase['query']): Promise<void> {
  await query(
    'CREATE TABLE IF NOT EXISTS chaos_takeover (task_id text NOT NULL, at timestamptz NOT NULL, from_pid int)',
  );
  await query(`
    CREATE OR REPLACE FUNCTION chaos_note_takeover() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO chaos_takeover VALUES (NEW.task_id, clock_timestamp(), (
        SELECT split_part(a.application_name, ':', 2)::int
        FROM replica r
          JOIN pg_locks l ON l.locktype = 'advisory' AND l.objsubid = 1 AND l.mode = 'ExclusiveLock' AND l.granted
            AND l.classid = (r.lock_key >> 32)::oid AND l.objid = (r.lock_key & 4294967295)::oid
          JOIN pg_stat_activity a ON a.pid = l.pid
        WHERE r.id = OLD.replica_id AND OLD.replica_id IS DISTINCT FROM NEW.replica_id LIMIT 1));
      RETURN NULL;
    END $$`);
  await query(`
    CREATE OR REPLACE TRIGGER chaos_takeover AFTER UPDATE OF claim_token ON task FOR EACH ROW
    WHEN (NEW.claim_token IS NOT NULL AND NEW.claim_token IS DISTINCT FROM OLD.claim_token)
    EXECUTE FUNCTION chaos_note_takeover()`);
}

/** Returns the recorded takeovers. */
export async function takeovers(query: TestDatabase['query']): Promise<Takeovers> {
  const rows = await query<Takeover & { id: string }>(
    'SELECT task_id AS id, at, from_pid AS "fromPid" FROM chaos_takeover ORDER BY at',
  );
  return Map.groupBy(rows, ({ id }) => id);
}

/** Period in which other replicas may take over the Tasks of a living process. */
export interface BrokenTime {
  from: Date;
  /** End of the period; absent: it does not end. */
  until?: Date;
}

/**
 * Returns one sentence for each Task that was taken over from a living replica which no fault had suspended or
 * disconnected.
 * @param broken periods by process id: from when the process was killed, terminated, suspended or disconnected, and how
 * long it had no sessions
 */
export function thefts(taken: Takeovers, broken: ReadonlyMap<number, readonly BrokenTime[]>): string[] {
  return [...taken].flatMap(([taskId, times]) =>
    times.flatMap(({ at, fromPid }) => {
      if (fromPid === null) return [];
      if ((broken.get(fromPid) ?? []).some(({ from, until = NEVER }) => at >= from && at <= until)) return [];
      return [`task ${taskId} was taken from process ${fromPid}, which lived, at ${at.toISOString()}`];
    }),
  );
}

const NEVER = new Date(8.64e15);
