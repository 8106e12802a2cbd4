import type { TestDatabase } from '../../support/postgres.js';

/** When the claim of a Task went to another execution. */
interface Takeover {
  /** By the database's clock. */
  at: Date;
  /** The process that had the Task, where a session of it still held its lock then. */
  fromPid: number | null;
}

/** The takeovers of each Task in the order of their times, by its id. */
export type Takeovers = ReadonlyMap<string, readonly Takeover[]>;

/**
 * Has the database write down from now on when a claim is taken over, taken again after it was given back, or renewed for
 * another execution by the same replica: each of them may repeat what was under way. May be called again.
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

/** Reads what was written down. */
export async function takeovers(query: TestDatabase['query']): Promise<Takeovers> {
  const rows = await query<Takeover & { id: string }>(
    'SELECT task_id AS id, at, from_pid AS "fromPid" FROM chaos_takeover ORDER BY at',
  );
  return Map.groupBy(rows, ({ id }) => id);
}

/** A time in which others may take the Tasks of a process that lives. */
export interface BrokenTime {
  from: Date;
  /** Absent: to the end. */
  until?: Date;
}

/**
 * Returns one sentence for each Task that was taken from a replica which lived and which no fault had stopped or cut off.
 * @param broken by the process: from when on it was killed, told to end, stopped or cut off, and how long without sessions
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
