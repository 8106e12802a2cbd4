import { enqueueForCallersFrom } from '#libs/jobs';

/** Session setting with the name of the writer of a process's commits (see COMMITTED). */
export const WRITER_SETTING = 'parley.writer';

/** Sections of a batch besides events and new Tasks. Each is a section of the statement's parameters. */
export interface BatchShape {
  /** True for one new Task with one log row. Its columns are passed as values, since arrays are expensive to set up. */
  one: boolean;
  continued: boolean;
  keyed: boolean;
  children: boolean;
  jobs: boolean;
  snapshots: boolean;
  questions: boolean;
  premises: boolean;
  files: boolean;
}

/**
 * Returns the text of the statement that writes a whole batch, and thus in one commit. A Task's events are inserted
 * only if its row was written: a new row, or an existing one that has this writer's token and expected sequence and has
 * not ended. The statement returns the ids of the written Tasks; the others are fenced and leave no trace.
 *
 * The parameters are the columns of the sections of the shape, in this order: events, new Tasks, continued ones, keys,
 * children, jobs, snapshots, questions, premises, files; then the position of the commit.
 */
export function batchText({
  one,
  continued,
  keyed,
  children,
  jobs,
  snapshots,
  questions,
  premises,
  files,
}: BatchShape): string {
  const from = {
    keys: 21 + (continued ? 10 : 0),
    children: 0,
    jobs: 0,
    snapshots: 0,
    questions: 0,
    premises: 0,
    files: 0,
    position: 0,
  };
  from.children = from.keys + (keyed ? 7 : 0);
  from.jobs = from.children + (children ? 3 : 0);
  from.snapshots = from.jobs + (jobs ? 8 : 0);
  from.questions = from.snapshots + (snapshots ? 4 : 0);
  from.premises = from.questions + (questions ? 8 : 0);
  const ofPremises = one ? 3 : 5;
  from.files = from.premises + (premises ? ofPremises : 0);
  from.position = from.files + (files ? 4 : 0);
  const conditions = [
    keyed && newUnderKey(from.keys),
    children && OF_A_HOLDER,
    premises && (one ? premiseHoldsSql(from.premises) : ON_WHAT_HOLDS),
  ];
  const made = conditions.filter(Boolean).join(' AND ');
  const moved = [keyed && movedUnderKey(from.keys), children && AFTER_THE_PARENTS].filter(Boolean);
  const parts = [
    ...(keyed ? [keptKeysSql(from.keys)] : []),
    ...(children ? [heldParentsSql(from.children)] : []),
    ...(premises && !one ? [failedPremisesSql(from.premises)] : []),
    `created AS (${CREATED}${one ? ONE : MANY}${made && ` WHERE ${made}`}${MADE})`,
    ...(continued ? [`continued AS (${CONTINUED}${moved.map((it) => ` AND ${it}`).join('')}${MOVED})`] : []),
    `written AS (${WRITTEN}${continued ? ` UNION ALL ${ALSO_CONTINUED}` : ''})`,
    `logged AS (${one ? LOGGED_ONE : LOGGED})`,
    committedSql(from.position),
    reportedSql(from.position),
    ...(snapshots ? [snapshotsSql(from.snapshots)] : []),
    ...(questions ? [questionsSql(from.questions)] : []),
    ...(files ? [usedFilesSql(from.files)] : []),
    ...(jobs ? [queuedJobsSql(from.jobs)] : []),
  ];
  return `WITH ${parts.join(', ')} SELECT task_id FROM written${jobs ? ', queued' : ''}`;
}

const ENDED = `('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')`;

const CREATED = `
  INSERT INTO task (task_id, context_id, tenant, owner, agent, parent_task_id, parent_reference, replica_id,
                    claim_token, state, last_sequence, created_at, updated_at, log_bytes, artifact_bytes, wake_at)
  SELECT * FROM`;

const MANY = `
  unnest($5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[],
         $13::text[], $14::text[], $15::int[], $16::timestamptz[], $17::timestamptz[], $18::int[], $19::int[],
         $20::timestamptz[]) AS fresh (task_id)`;

const ONE = `
  (VALUES ($5::text, $6::text, $7::text, $8::text, $9::text, $10::text, $11::text, $12::text, $13::text, $14::text,
           $15::int, $16::timestamptz, $17::timestamptz, $18::int, $19::int, $20::timestamptz)) AS fresh (task_id)`;

const MADE = `
  ON CONFLICT (task_id) DO NOTHING
  RETURNING task_id, 0 AS after, last_sequence`;

// A Task with a cancel request that waits or parks before it has seen the request is due immediately.
const CONTINUED = `
  UPDATE task SET
    state = entry.state,
    last_sequence = entry.last_sequence,
    updated_at = entry.updated_at,
    log_bytes = task.log_bytes + entry.log_bytes,
    artifact_bytes = task.artifact_bytes + entry.artifact_bytes,
    replica_id = CASE WHEN entry.settled THEN NULL ELSE task.replica_id END,
    claim_token = CASE WHEN entry.settled THEN NULL ELSE task.claim_token END,
    wake_at = CASE WHEN task.cancel_requested_at IS NOT NULL AND entry.settled AND entry.state NOT IN ${ENDED} THEN now()
                   ELSE entry.wake_at END
  FROM unnest($21::text[], $22::text[], $23::int[], $24::int[], $25::text[], $26::timestamptz[], $27::boolean[],
              $28::int[], $29::int[], $30::timestamptz[])
    AS entry (task_id, token, after, last_sequence, state, updated_at, settled, log_bytes, artifact_bytes, wake_at)
  WHERE task.task_id = entry.task_id AND task.claim_token = entry.token AND task.last_sequence = entry.after
    AND task.state NOT IN ${ENDED}`;

const MOVED = `
  RETURNING task.task_id, entry.after, task.last_sequence`;

const WRITTEN = 'SELECT task_id, after, last_sequence FROM created';
const ALSO_CONTINUED = 'SELECT task_id, after, last_sequence FROM continued';

// IS TRUE keeps the planner from using a join: the written ids are hashed once.
const LOGGED = `
  INSERT INTO task_log (task_id, sequence, events, artifact, recorded_at)
  SELECT task_id, sequence, events, artifact, now()
  FROM unnest($1::text[], $2::int[], $3::text[], $4::boolean[]) AS entry (task_id, sequence, events, artifact)
  WHERE (entry.task_id IN (SELECT task_id FROM written)) IS TRUE`;

const LOGGED_ONE = `
  INSERT INTO task_log (task_id, sequence, events, artifact, recorded_at)
  SELECT $1::text, $2::int, $3::text, $4::boolean, now() FROM written`;

// Batches of a writer are written one after the other, so the commit with the smaller position is always visible first,
// which no sequence or clock guarantees (see JournalSession for broken sessions).
const committedSql = (at: number): string => `
committed AS (
  INSERT INTO task_commit (writer, position, task_ids, afters, last_sequences, committed_at)
  SELECT current_setting('${WRITER_SETTING}'), $${at}::bigint, array_agg(task_id), array_agg(after),
         array_agg(last_sequence), now()
  FROM written HAVING count(*) > 0
)`;

// Replicas of the previous version read the newest position here. Without such replicas no row is updated.
const reportedSql = (at: number): string => `
reported AS (
  INSERT INTO task_writer (writer, position)
  SELECT current_setting('${WRITER_SETTING}'), $${at}::bigint
  WHERE EXISTS (SELECT FROM replica WHERE generation IS NULL) AND EXISTS (SELECT FROM written)
  ON CONFLICT (writer) DO UPDATE SET position = EXCLUDED.position
)`;

// The first to store a key creates its Task or continues it. Another Task under the key is not created, and another
// Message is not accepted, as if they were fenced. A follow-up stores its key only while its claim holds: the row is
// locked first, so that it still holds when it is written. All statements store keys in the same order, so two with the
// same keys never deadlock.
const keptKeysSql = (at: number): string => `
held AS (
  SELECT task.task_id
  FROM task JOIN unnest($21::text[], $22::text[], $23::int[]) AS entry (task_id, token, after) USING (task_id)
  WHERE task.task_id = ANY ($${at}::text[]) AND task.claim_token = entry.token AND task.last_sequence = entry.after
    AND task.state NOT IN ${ENDED}
  FOR UPDATE OF task
),
kept AS (
  INSERT INTO task_key (task_id, tenant, owner, agent, key, fingerprint, sequence, created_at)
  SELECT keyed.*, now()
  FROM unnest($${at}::text[], $${at + 1}::text[], $${at + 2}::text[], $${at + 3}::text[], $${at + 4}::text[],
              $${at + 5}::text[], $${at + 6}::int[])
    AS keyed (task_id, tenant, owner, agent, key, fingerprint, sequence)
  WHERE keyed.sequence = 1 OR keyed.task_id = ANY (ARRAY(SELECT task_id FROM held))
  ORDER BY keyed.tenant, keyed.owner, keyed.agent, keyed.key
  ON CONFLICT (tenant, owner, agent, key) DO NOTHING
  RETURNING task_id
)`;

const newUnderKey = (at: number): string =>
  `(fresh.task_id <> ALL ($${at}) OR fresh.task_id = ANY (ARRAY(SELECT task_id FROM kept)))`;

const movedUnderKey = (at: number): string =>
  `(task.task_id <> ALL ($${at}) OR task.task_id = ANY (ARRAY(SELECT task_id FROM kept)))`;

// A child is created only while its parent has the claim of the calling execution, which the same process may have lost
// and regained, or is new itself. The parent's row stays locked until the commit, so a replica that adopts the parent
// either sees the child or prevents its creation.
const heldParentsSql = (at: number): string => `
called AS MATERIALIZED (
  SELECT * FROM unnest($${at}::text[], $${at + 1}::text[], $${at + 2}::text[]) AS call (task_id, parent_id, holder)
),
parents AS MATERIALIZED (
  SELECT task_id, claim_token, replica_id FROM task
  WHERE task_id = ANY (ARRAY(SELECT DISTINCT parent_id FROM called))
    AND (claim_token = ANY (ARRAY(SELECT DISTINCT holder FROM called))
      OR replica_id = ANY (ARRAY(SELECT DISTINCT holder FROM called)))
  FOR SHARE
),
disowned AS MATERIALIZED (
  SELECT task_id FROM called
  WHERE parent_id <> ALL ($5) AND ((parent_id, holder) IN (
    SELECT task_id, claim_token FROM parents UNION ALL SELECT task_id, replica_id FROM parents)) IS NOT TRUE
)`;

const OF_A_HOLDER = '(fresh.task_id IN (SELECT task_id FROM disowned)) IS NOT TRUE';

// A save of another revision is answered after its commit, so this statement sees every revision that a caller could
// know of.
const failedPremisesSql = (at: number): string => `
outdated AS MATERIALIZED (
  SELECT position
  FROM unnest($${at}::text[], $${at + 1}::text[], $${at + 2}::text[]) WITH ORDINALITY
    AS premise (tenant, name, version, position)
  WHERE NOT EXISTS (SELECT FROM workflow_newest AS newest
    WHERE newest.tenant = premise.tenant AND newest.name = premise.name AND newest.version = premise.version)
),
failed AS MATERIALIZED (
  SELECT task_id FROM unnest($${at + 3}::text[], $${at + 4}::int[]) AS made (task_id, position)
  WHERE (position IN (SELECT position FROM outdated)) IS TRUE
)`;

const premiseHoldsSql = (at: number): string => `EXISTS (SELECT FROM workflow_newest AS newest
  WHERE newest.tenant = $${at} AND newest.name = $${at + 1} AND newest.version = $${at + 2})`;

const ON_WHAT_HOLDS = '(fresh.task_id IN (SELECT task_id FROM failed)) IS NOT TRUE';

// A row that this statement has updated can no longer be locked by it.
const AFTER_THE_PARENTS = '(SELECT count(*) FROM parents) >= 0';

const snapshotsSql = (at: number): string => `
folded AS (
  INSERT INTO task_snapshot (task_id, sequence, task, artifacts)
  SELECT * FROM unnest($${at}::text[], $${at + 1}::int[], $${at + 2}::json[], $${at + 3}::json[]) AS settled (task_id)
  WHERE (settled.task_id IN (SELECT task_id FROM written)) IS TRUE
  ON CONFLICT (task_id) DO UPDATE
    SET sequence = EXCLUDED.sequence, task = EXCLUDED.task, artifacts = EXCLUDED.artifacts
)`;

// Rows of unchanged open questions are not touched, so an answer to one of many costs only its change. A row without a
// key asks nothing: it names a Task whose rows are settled.
const questionsSql = (at: number): string => `
asked AS MATERIALIZED (
  SELECT * FROM unnest($${at}::text[], $${at + 1}::text[], $${at + 2}::text[], $${at + 3}::text[], $${at + 4}::text[],
                       $${at + 5}::text[], $${at + 6}::timestamptz[], $${at + 7}::json[])
    AS question (task_id, key, tenant, owner, agent, assignee, since, body)
  WHERE (question.task_id IN (SELECT task_id FROM written)) IS TRUE
),
asking AS (
  INSERT INTO task_question (task_id, key, tenant, owner, agent, assignee, since, body)
  SELECT * FROM asked
  WHERE asked.key IS NOT NULL AND NOT EXISTS (
    SELECT FROM task_question AS old
    WHERE (old.task_id, old.key, old.since) = (asked.task_id, asked.key, asked.since)
      AND old.assignee IS NOT DISTINCT FROM asked.assignee AND old.body::text = asked.body::text)
  ON CONFLICT (task_id, key) DO UPDATE
    SET assignee = EXCLUDED.assignee, since = EXCLUDED.since, body = EXCLUDED.body
),
settled AS (
  DELETE FROM task_question AS old
  WHERE old.task_id = ANY (ARRAY(SELECT task_id FROM asked))
    AND NOT EXISTS (SELECT FROM asked WHERE (asked.task_id, asked.key) = (old.task_id, old.key))
)`;

// The locks make a delete of such a file wait for this commit (see FileStore). No batch waits for a file that is being
// deleted: its use is written without a lock, and counts if the delete rolls back. Files of other owners are ignored.
const usedFilesSql = (at: number): string => `
locked AS MATERIALIZED (
  SELECT FROM file WHERE id = ANY ($${at + 1}::text[]) FOR KEY SHARE SKIP LOCKED
),
named AS MATERIALIZED (
  SELECT id, tenant, owner FROM file WHERE id = ANY ($${at + 1}::text[]) AND (SELECT count(*) FROM locked) >= 0
),
used AS (
  INSERT INTO file_use (file_id, task_id)
  SELECT named.id, naming.task_id
  FROM unnest($${at}::text[], $${at + 1}::text[], $${at + 2}::text[], $${at + 3}::text[])
    AS naming (task_id, file_id, tenant, owner)
    JOIN named ON (named.id, named.tenant, named.owner) = (naming.file_id, naming.tenant, naming.owner)
  WHERE (naming.task_id IN (SELECT task_id FROM written)) IS TRUE
  ON CONFLICT DO NOTHING
)`;

// Only jobs of Tasks that were written.
const queuedJobsSql = (at: number): string => `
queued AS MATERIALIZED (${enqueueForCallersFrom(`(
  SELECT name, payload, key, run_at, max_attempts, priority, caller
  FROM unnest($${at}::text[], $${at + 1}::text[], $${at + 2}::json[], $${at + 3}::text[], $${at + 4}::timestamptz[],
              $${at + 5}::int[], $${at + 6}::int[], $${at + 7}::text[])
    AS wanted (task_id, name, payload, key, run_at, max_attempts, priority, caller)
  WHERE (wanted.task_id IN (SELECT task_id FROM written)) IS TRUE)`)})`;
