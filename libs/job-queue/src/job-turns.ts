import type { Pool, PoolClient, QueryConfig } from 'pg';

/** Number of due jobs from which on callers take turns. Fewer due jobs are taken by priority, then by time. */
const CROWD = 32;
/**
 * Maximum number of pairs of caller and priority without a due job that one statement skips on its way to the next
 * caller with a due job.
 */
const PASSED = 64;
/** Maximum number of attempts to take a job, since other workers may take the jobs that an attempt has found. */
const LOOKS = 3;
/** Name of the statement that the queue (graphile-worker 0.18) uses to take a job. */
const TAKE = 'get_job/graphile_worker';
/**
 * Number greater than every priority. As the priority of a TurnPlace, it means the position after all jobs of the
 * caller.
 */
const LAST_PRIORITY = 32_767;
/** Place before all callers: an empty text sorts before the flag of every caller, because no flag is empty. */
const FIRST: TurnPlace = { caller: '', priority: LAST_PRIORITY };

/**
 * Settings of sessions that take jobs. They make each lookup use an index, even if the table statistics make PostgreSQL
 * prefer to read the whole table.
 */
export const JOB_SESSION_SETTINGS = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  jit: 'off',
};

type Query = (...args: unknown[]) => Promise<{ rows: unknown[] }>;

/** Position in the index of jobs by caller: a caller and a priority. */
interface TurnPlace {
  caller: string;
  priority: number;
}

interface Claim {
  [column: string]: unknown;
  id: unknown;
  /** Place after which the next turn comes; null if callers take no turns. */
  turn: TurnPlace | null;
  /** True if the lookup saw due jobs that no worker had taken yet. */
  is_left: boolean;
}

/**
 * Fair turns of callers whose jobs are due at the same time. Takes jobs on behalf of the queue's workers. The queue
 * alone would take jobs only by priority and time.
 * - While few jobs are due, they are taken by priority, then by time.
 * - While many jobs are due, each worker takes one job of each caller in turn. Once per round it takes the oldest due
 *   job with the smallest priority number.
 * - A due job of a caller waits only until each worker has taken about one job of each other caller, and one more job
 *   for every 64 pairs of caller and priority that the worker skipped because they had no due job.
 * - The jobs of one caller keep their order, and a single caller may use every slot.
 * - A worker takes a job by one statement, which reads a bounded number of rows. At most one worker takes a job.
 */
export class JobTurns {
  /** Place of the last turn of each worker. */
  private readonly last = new Map<string, TurnPlace>();

  /** Replaces the queue's statement that takes a job, in each session that the pool opens from now on. */
  useIn(sessions: Pool): void {
    sessions.on('connect', (session) => this.replaceClaims(session));
  }

  private replaceClaims(session: PoolClient): void {
    const query = session.query.bind(session) as unknown as Query;
    const queryOrClaim: Query = (...args) => {
      const [statement] = args as [QueryConfig | undefined];
      return statement?.name === TAKE ? this.claimJob(query, statement.values as [string, number[]]) : query(...args);
    };
    session.query = queryOrClaim as unknown as typeof session.query;
  }

  private async claimJob(query: Query, [workerId, taskIds]: [string, number[]]): Promise<{ rows: unknown[] }> {
    for (let look = 0; look < LOOKS; look += 1) {
      const { caller, priority } = this.last.get(workerId) ?? FIRST;
      const values = [workerId, taskIds, caller, priority];
      const { rows } = await query({ name: 'claim-job', text: CLAIM_JOB, values });
      const { turn, is_left: isLeft, ...job } = rows[0] as Claim;
      if (turn === null) this.last.delete(workerId);
      else this.last.set(workerId, turn);
      if (job.id !== null) return { rows: [job] };
      if (!isLeft) break;
    }
    return { rows: [] };
  }
}

/** SQL expression for the caller of a job as text. Jobs without a caller sort first. */
const CALLER = `(coalesce(jobs.flags::text, '-') COLLATE "C")`;

const IS_DUE = `jobs.is_available AND jobs.run_at <= now() AND jobs.task_id = ANY ($2::int[]) AND (
        jobs.job_queue_id IS NULL
        OR jobs.job_queue_id IN (SELECT id FROM graphile_worker._private_job_queues WHERE is_available))`;

// Locks the queue together with its job, as the replaced statement does.
const IN_FREE_QUEUE = `(jobs.job_queue_id IS NULL OR jobs.job_queue_id IN (
        SELECT id FROM graphile_worker._private_job_queues WHERE is_available FOR UPDATE SKIP LOCKED))`;

const firstJobSql = (which: string): string => `
      SELECT jobs.id, jobs.job_queue_id FROM graphile_worker._private_jobs AS jobs
      WHERE ${which} AND ${IS_DUE} AND ${IN_FREE_QUEUE} ORDER BY jobs.run_at LIMIT 1 FOR UPDATE SKIP LOCKED`;

// Never waits for a lock, and locks only the job that it takes: all others stay free for other workers.
const CLAIM_JOB = `
  WITH RECURSIVE level AS (
    (SELECT jobs.priority FROM graphile_worker._private_jobs AS jobs
     WHERE jobs.is_available ORDER BY jobs.priority LIMIT 1)
    UNION ALL
    SELECT later.priority FROM level, LATERAL (
      SELECT jobs.priority FROM graphile_worker._private_jobs AS jobs
      WHERE jobs.is_available AND jobs.priority > level.priority ORDER BY jobs.priority LIMIT 1) AS later
  ),
  due AS MATERIALIZED (
    SELECT level.priority, jobs.count FROM level, LATERAL (
      SELECT count(*) FROM (
        SELECT FROM graphile_worker._private_jobs AS jobs
        WHERE jobs.priority = level.priority AND ${IS_DUE} ORDER BY jobs.run_at LIMIT ${CROWD}) AS counted) AS jobs
  ),
  passed AS (
    SELECT 0 AS step, $3::text COLLATE "C" AS caller, $4::smallint AS priority, false AS is_due
    WHERE (SELECT sum(count) FROM due) >= ${CROWD}
    UNION ALL
    SELECT passed.step + 1, next.caller, next.priority, EXISTS (
      SELECT FROM graphile_worker._private_jobs AS jobs
      WHERE ${CALLER} = next.caller AND jobs.priority = next.priority AND ${IS_DUE})
    FROM passed, LATERAL (
      SELECT ${CALLER} AS caller, jobs.priority FROM graphile_worker._private_jobs AS jobs
      WHERE jobs.is_available AND (${CALLER}, jobs.priority) > (passed.caller, passed.priority)
      ORDER BY ${CALLER}, jobs.priority LIMIT 1) AS next
    WHERE NOT passed.is_due AND passed.step < ${PASSED}
  ),
  in_turn AS MATERIALIZED (
    SELECT job.* FROM passed, LATERAL (${firstJobSql(`${CALLER} = passed.caller AND jobs.priority = passed.priority`)}) AS job
    WHERE passed.is_due
  ),
  oldest AS MATERIALIZED (
    SELECT job.* FROM (SELECT priority FROM due WHERE count > 0 ORDER BY priority) AS level,
      LATERAL (${firstJobSql('jobs.priority = level.priority')}) AS job
    WHERE NOT EXISTS (SELECT FROM in_turn) LIMIT 1
  ),
  picked AS (SELECT * FROM in_turn UNION ALL SELECT * FROM oldest),
  entered AS (
    UPDATE graphile_worker._private_job_queues AS queue SET locked_by = $1, locked_at = now()
    FROM picked WHERE queue.id = picked.job_queue_id
  ),
  taken AS (
    UPDATE graphile_worker._private_jobs AS jobs SET attempts = jobs.attempts + 1, locked_by = $1, locked_at = now()
    FROM picked WHERE jobs.id = picked.id RETURNING jobs.*
  )
  SELECT taken.*, look.* FROM (
    SELECT (SELECT CASE WHEN is_due THEN json_build_object('caller', caller, 'priority', ${LAST_PRIORITY})
                        WHEN step = ${PASSED} THEN json_build_object('caller', caller, 'priority', priority)
                        ELSE '${JSON.stringify(FIRST)}' END
            FROM passed ORDER BY step DESC LIMIT 1) AS turn,
           EXISTS (SELECT FROM due WHERE count > 0) AS is_left) AS look
  LEFT JOIN taken ON true`;
