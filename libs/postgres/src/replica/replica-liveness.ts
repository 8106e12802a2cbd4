/**
 * Number in the row of a replica that states which SQL statements the replica runs. The rows of earlier versions have
 * no such number. While a row of an earlier version exists, journals also write the positions of their commits to
 * `task_writer`.
 */
const REPLICA_GENERATION = 1;
/** Seconds without a heartbeat before a replica counts as frozen, even if it holds its lock. */
const FROZEN_SECONDS = 10;
/** Maximum age in seconds of the committed heartbeat by which a replica proves its own life. */
const PROVEN_SECONDS = 4;
/**
 * Minimum seconds that a replica must have lived without a gap before it may conclude from a missing lock that
 * another replica is dead. If its own session broke or its commits stopped a moment ago, the cause may have hit the
 * other replicas too, and they may still live.
 */
const STEADY_SECONDS = 3;

/** Keys of all advisory locks that sessions of this database hold. pg_locks shows a bigint key as two halves. */
const HELD_LOCKS = `
  SELECT (l.classid::bigint << 32) | l.objid::bigint AS key FROM pg_locks l
  WHERE l.locktype = 'advisory' AND l.granted AND l.mode = 'ExclusiveLock' AND l.objsubid = 1
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/**
 * Returns the SQL that determines whether other replicas are dead. This SQL must be part of the statement that acts on
 * the result: no statement trusts an earlier read. The judge is the replica that executes the statement.
 *
 * - Only a living replica judges: it holds its lock, and its last committed heartbeat is at most four seconds old. If
 *   commits stand still, no replica has such a heartbeat, so none judges.
 * - A replica without its lock is dead. This counts once the judge has proved its own life for three seconds without a
 *   gap (see ReplicaLife); at once for a judge that has just started. PostgreSQL itself must have run for three
 *   seconds.
 * - A replica that sent no heartbeat for ten seconds is dead. This counts once the judge has proved its own life for
 *   ten seconds without a gap: by then every living replica has committed a heartbeat as well.
 * - All times are those of the database's clock.
 *
 * @param judge SQL expression for the id of the judge
 */
export function livenessCheckBy(judge: string): LivenessCheck {
  const withs = `
    held_lock AS MATERIALIZED (${HELD_LOCKS}),
    judge AS MATERIALIZED (
      SELECT own.id, greatest(own.steady_since, own.started_at) < now() - interval '${FROZEN_SECONDS} seconds' AS knows_silence
      FROM replica AS own
      WHERE own.id = ${judge} AND own.lock_key IN (SELECT key FROM held_lock)
        AND own.heartbeat_at > now() - interval '${PROVEN_SECONDS} seconds'
        AND own.steady_since < now() - interval '${STEADY_SECONDS} seconds'
        AND pg_postmaster_start_time() < now() - interval '${STEADY_SECONDS} seconds'
    )`;
  const isDead = (replica: string): string => `(
    ${replica}.id <> judge.id AND (
      ${replica}.lock_key NOT IN (SELECT key FROM held_lock)
      OR (judge.knows_silence AND ${replica}.heartbeat_at < now() - interval '${FROZEN_SECONDS} seconds')))`;
  const gone = (suspects: string): string => `
    SELECT suspect.id FROM judge, unnest(${suspects}) AS suspect (id) LEFT JOIN replica AS known ON known.id = suspect.id
    WHERE suspect.id <> judge.id AND (known.id IS NULL OR ${isDead('known')})`;
  return { withs, isDead, selectGone: gone };
}

/** Parts of an SQL statement that decides which replicas are dead (see `livenessCheckBy`). */
export interface LivenessCheck {
  withs: string;
  /** Returns the condition that a row of `replica`, by its alias, is dead. The statement must join `judge`. */
  isDead(replica: string): string;
  /**
   * Returns a query for those ids of an array that belong to no living replica: dead replicas, and ids without a row.
   */
  selectGone(suspects: string): string;
}

/** Reads the ids of the replicas that are dead by the judgment of the replica `$1` (see `livenessCheckBy`). */
export const DEAD_REPLICAS = ((check: LivenessCheck) => `
  WITH ${check.withs} SELECT r.id FROM judge, replica AS r WHERE ${check.isDead('r')}`)(livenessCheckBy('$1'));

/**
 * Reads the ids in the array `$2` that have no row in `replica`. Reads none if the replica `$1` cannot prove that it
 * lives itself.
 */
export const UNKNOWN_REPLICAS = `
  WITH ${livenessCheckBy('$1').withs}
  SELECT claimant.id FROM judge, unnest($2::text[]) AS claimant (id)
  WHERE NOT EXISTS (SELECT FROM replica AS r WHERE r.id = claimant.id)`;

/** Reads the number of replicas other than `$1` that hold their lock and have a recent heartbeat. */
export const LIVING_PEERS = `
  WITH held_lock AS MATERIALIZED (${HELD_LOCKS})
  SELECT count(*)::int AS peers FROM replica AS other
  WHERE other.id <> $1 AND other.lock_key IN (SELECT key FROM held_lock)
    AND other.heartbeat_at > now() - interval '${FROZEN_SECONDS} seconds'`;

/**
 * Deletes the row of the replica `$2` if it is dead by the judgment of the replica `$1`. A replica that has committed a
 * heartbeat meanwhile keeps its row.
 */
export const FORGET_REPLICA = ((check: LivenessCheck) => `
  WITH ${check.withs} DELETE FROM replica AS r USING judge WHERE r.id = $2 AND ${check.isDead('r')}`)(
  livenessCheckBy('$1'),
);

/**
 * Writes the heartbeat of the replica `$1` with the lock `$2`, and recreates a deleted row. `$3` is true for the first
 * heartbeat of a process. `steady_since` is kept if the previous heartbeat is recent and had the same lock. Otherwise
 * the replica may have stopped for a while, the clock may have been changed, or the session is new, and `steady_since`
 * becomes the current time.
 */
export const HEARTBEAT = `
  INSERT INTO replica AS own (id, lock_key, generation, steady_since)
  VALUES ($1, $2, ${REPLICA_GENERATION}, CASE WHEN $3 THEN '-infinity'::timestamptz ELSE now() END)
  ON CONFLICT (id) DO UPDATE SET lock_key = excluded.lock_key, heartbeat_at = now(),
    steady_since = CASE
      WHEN own.lock_key = excluded.lock_key
        AND own.heartbeat_at BETWEEN now() - interval '${PROVEN_SECONDS} seconds' AND now() THEN own.steady_since
      ELSE now() END
  RETURNING
    ARRAY(
      SELECT other.lock_key::text FROM replica AS other
      WHERE other.id <> $1 AND other.heartbeat_at > now() - interval '${FROZEN_SECONDS} seconds') AS peers,
    clock_timestamp() AS now`;
