import { enqueueForCallersFrom } from '#libs/jobs';
import { type BatchShape, StatementParameters } from './journal-sections.js';

/** Name of the session setting that contains the writer's name for its commits (see `committedSql`). */
export const WRITER_SETTING = 'parley.writer';

/**
 * Returns the text of the statement that writes a whole batch in one commit.
 * - A Task's events are inserted only if its row was written: a new row, or an existing row that has this writer's
 *   token and the expected sequence and has not ended.
 * - The statement returns the ids of the written Tasks. The other Tasks are fenced (rejected), and nothing of them is
 *   written.
 */
export function batchText(shape: BatchShape): string {
  const { one, continued, keyed, children, jobs, snapshots, questions, premises, usage } = shape;
  const params = new StatementParameters(shape);
  const conditions = [
    keyed && newUnderKey(params),
    children && OF_A_HOLDER,
    premises && (one ? premiseHoldsSql(params) : ON_WHAT_HOLDS),
  ];
  const made = conditions.filter(Boolean).join(' AND ');
  const moved = [keyed && movedUnderKey(params), children && AFTER_THE_PARENTS].filter(Boolean);
  const parts = [
    ...(keyed ? [keptKeysSql(params)] : []),
    ...(children ? [heldParentsSql(params)] : []),
    ...(premises && !one ? [failedPremisesSql(params)] : []),
    `created AS (${CREATED}${one ? oneSql(params) : manySql(params)}${made && ` WHERE ${made}`}${MADE})`,
    ...(continued ? [`continued AS (${continuedSql(params)}${moved.map((it) => ` AND ${it}`).join('')}${MOVED})`] : []),
    `written AS (${WRITTEN}${continued ? ` UNION ALL ${ALSO_CONTINUED}` : ''})`,
    `logged AS (${one ? loggedOneSql(params) : loggedSql(params)})`,
    committedSql(params),
    reportedSql(params),
    ...(snapshots ? [snapshotsSql(params)] : []),
    ...(questions ? [questionsSql(params)] : []),
    ...(shape.files ? [usedFilesSql(params)] : []),
    ...(shape.relayed ? [relayedSql(params, one)] : []),
    ...(shape.remotes ? [remotesSql(params)] : []),
    ...(shape.prompts ? [promptsSql(params)] : []),
    ...(usage ? [usageSql(params)] : []),
    ...(jobs ? [queuedJobsSql(params)] : []),
  ];
  return `WITH ${usage ? 'RECURSIVE ' : ''}${parts.join(', ')} SELECT task_id FROM written${jobs ? ', queued' : ''}`;
}

const ENDED = `('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')`;

const CREATED = `
  INSERT INTO task (task_id, context_id, tenant, owner, agent, parent_task_id, parent_reference, replica_id,
                    claim_token, state, last_sequence, created_at, updated_at, log_bytes, artifact_bytes, wake_at)
  SELECT * FROM`;

const manySql = (params: StatementParameters): string => `
  ${params.rows('created')} AS fresh`;

const oneSql = (params: StatementParameters): string => `
  (VALUES (${params.list('created', 0, 10)},
           ${params.list('created', 10)})) AS fresh (task_id)`;

const MADE = `
  ON CONFLICT (task_id) DO NOTHING
  RETURNING task_id, 0 AS after, last_sequence`;

// A Task with a cancel request that waits or parks before it has seen the request is due immediately.
const continuedSql = (params: StatementParameters): string => `
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
  FROM ${params.rows('continued')} AS entry
  WHERE task.task_id = entry.task_id AND task.claim_token = entry.token AND task.last_sequence = entry.after
    AND task.state NOT IN ${ENDED}`;

const MOVED = `
  RETURNING task.task_id, entry.after, task.last_sequence`;

const WRITTEN = 'SELECT task_id, after, last_sequence FROM created';
const ALSO_CONTINUED = 'SELECT task_id, after, last_sequence FROM continued';

// IS TRUE keeps the planner from using a join: the written ids are hashed once.
const loggedSql = (params: StatementParameters): string => `
  INSERT INTO task_log (task_id, sequence, events, artifact, recorded_at)
  SELECT task_id, sequence, events, artifact, now()
  FROM ${params.rows('log')} AS entry
  WHERE (entry.task_id IN (SELECT task_id FROM written)) IS TRUE`;

const loggedOneSql = (params: StatementParameters): string => `
  INSERT INTO task_log (task_id, sequence, events, artifact, recorded_at)
  SELECT ${params.list('log')}, now() FROM written`;

// Batches of a writer are written one after the other, so the commit with the smaller position is always visible first,
// which no sequence or clock guarantees (see JournalSession for broken sessions).
const committedSql = (params: StatementParameters): string => `
committed AS (
  INSERT INTO task_commit (writer, position, task_ids, afters, last_sequences, committed_at)
  SELECT current_setting('${WRITER_SETTING}'), ${params.position}::bigint, array_agg(task_id), array_agg(after),
         array_agg(last_sequence), now()
  FROM written HAVING count(*) > 0
)`;

// Replicas of the previous version read the newest position here. Without such replicas no row is updated.
const reportedSql = (params: StatementParameters): string => `
reported AS (
  INSERT INTO task_writer (writer, position)
  SELECT current_setting('${WRITER_SETTING}'), ${params.position}::bigint
  WHERE EXISTS (SELECT FROM replica WHERE generation IS NULL) AND EXISTS (SELECT FROM written)
  ON CONFLICT (writer) DO UPDATE SET position = EXCLUDED.position
)`;

// The first to store a key creates its Task or continues it. Another Task under the key is not created, and another
// Message is not accepted, as if they were fenced. A follow-up stores its key only while its claim holds: the row is
// locked first, so that it still holds when it is written. All statements store keys in the same order, so two with the
// same keys never deadlock.
const keptKeysSql = (params: StatementParameters): string => `
held AS (
  SELECT task.task_id
  FROM task JOIN ${params.rows('continued', 0, 3)} AS entry USING (task_id)
  WHERE task.task_id = ANY (${params.at('keyed', 'taskId')}::text[]) AND task.claim_token = entry.token AND task.last_sequence = entry.after
    AND task.state NOT IN ${ENDED}
  FOR UPDATE OF task
),
kept AS (
  INSERT INTO task_key (task_id, tenant, owner, agent, key, fingerprint, sequence, created_at)
  SELECT keyed.*, now()
  FROM ${params.rows('keyed')} AS keyed
  WHERE keyed.sequence = 1 OR keyed.task_id = ANY (ARRAY(SELECT task_id FROM held))
  ORDER BY keyed.tenant, keyed.owner, keyed.agent, keyed.key
  ON CONFLICT (tenant, owner, agent, key) DO NOTHING
  RETURNING task_id
)`;

const newUnderKey = (params: StatementParameters): string =>
  `(fresh.task_id <> ALL (${params.at('keyed', 'taskId')}) OR fresh.task_id = ANY (ARRAY(SELECT task_id FROM kept)))`;

const movedUnderKey = (params: StatementParameters): string =>
  `(task.task_id <> ALL (${params.at('keyed', 'taskId')}) OR task.task_id = ANY (ARRAY(SELECT task_id FROM kept)))`;

// A child is created only while its parent has the claim of the calling execution, which the same process may have lost
// and regained, or is new itself. The parent's row stays locked until the commit, so a replica that adopts the parent
// either sees the child or prevents its creation.
const heldParentsSql = (params: StatementParameters): string => `
called AS MATERIALIZED (
  SELECT * FROM ${params.rows('children')} AS call
),
parents AS MATERIALIZED (
  SELECT task_id, claim_token, replica_id FROM task
  WHERE task_id = ANY (ARRAY(SELECT DISTINCT parent_task_id FROM called))
    AND (claim_token = ANY (ARRAY(SELECT DISTINCT holder FROM called))
      OR replica_id = ANY (ARRAY(SELECT DISTINCT holder FROM called)))
  FOR SHARE
),
disowned AS MATERIALIZED (
  SELECT task_id FROM called
  WHERE parent_task_id <> ALL (${params.at('created', 'taskId')}) AND ((parent_task_id, holder) IN (
    SELECT task_id, claim_token FROM parents UNION ALL SELECT task_id, replica_id FROM parents)) IS NOT TRUE
)`;

const OF_A_HOLDER = '(fresh.task_id IN (SELECT task_id FROM disowned)) IS NOT TRUE';

/** Returns a SQL expression for a column with the positions of an array's elements, from 1. */
const positionOf = (array: string): string => `generate_subscripts(${array}, 1) AS position`;

// A save of another revision is answered after its commit, so this statement sees every revision that a caller could
// know of. OFFSET 0 keeps the planner from a join, which would read all workflows of all tenants.
const failedPremisesSql = (params: StatementParameters): string => `
outdated AS MATERIALIZED (
  SELECT position
  FROM ${params.rows('premises', 0, 3, positionOf(params.at('premises', 'tenant')))} AS premise
  WHERE NOT EXISTS (SELECT FROM workflow_newest AS newest
    WHERE newest.tenant = premise.tenant AND newest.name = premise.name AND newest.version = premise.version OFFSET 0)
),
failed AS MATERIALIZED (
  SELECT task_id FROM ${params.rows('premises', 3)} AS made
  WHERE (position IN (SELECT position FROM outdated)) IS TRUE
)`;

const premiseHoldsSql = (params: StatementParameters): string => {
  const columns = ['tenant', 'name', 'version'] as const;
  const conditions = columns.map((column) => `newest.${column} = ${params.at('premise', column)}`);
  return `EXISTS (SELECT FROM workflow_newest AS newest
  WHERE ${conditions.join(' AND ')})`;
};

const ON_WHAT_HOLDS = '(fresh.task_id IN (SELECT task_id FROM failed)) IS NOT TRUE';

// A row that this statement has updated can no longer be locked by it.
const AFTER_THE_PARENTS = '(SELECT count(*) FROM parents) >= 0';

const snapshotsSql = (params: StatementParameters): string => `
folded AS (
  INSERT INTO task_snapshot (task_id, sequence, task, artifacts)
  SELECT * FROM ${params.rows('snapshots')} AS settled
  WHERE (settled.task_id IN (SELECT task_id FROM written)) IS TRUE
  ON CONFLICT (task_id) DO UPDATE
    SET sequence = EXCLUDED.sequence, task = EXCLUDED.task, artifacts = EXCLUDED.artifacts
)`;

// Rows of unchanged open questions are not touched, so an answer to one of many costs only its change. A row without a
// key asks nothing: it names a Task whose rows are settled.
const questionsSql = (params: StatementParameters): string => `
asked AS MATERIALIZED (
  SELECT * FROM ${params.rows('questions')} AS question
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
const usedFilesSql = (params: StatementParameters): string => `
locked AS MATERIALIZED (
  SELECT FROM file WHERE id = ANY (${params.at('files', 'fileId')}::text[]) FOR KEY SHARE SKIP LOCKED
),
named AS MATERIALIZED (
  SELECT id, tenant, owner FROM file WHERE id = ANY (${params.at('files', 'fileId')}::text[]) AND (SELECT count(*) FROM locked) >= 0
),
used AS (
  INSERT INTO file_use (file_id, task_id)
  SELECT named.id, naming.task_id
  FROM ${params.rows('files')} AS naming
    JOIN named ON (named.id, named.tenant, named.owner) = (naming.file_id, naming.tenant, naming.owner)
  WHERE (naming.task_id IN (SELECT task_id FROM written)) IS TRUE
  ON CONFLICT DO NOTHING
)`;

const relayedSql = (params: StatementParameters, one: boolean): string => `
relayed AS (
  INSERT INTO registered_agent_task (task_id, talk_key, context_key, message_id, options, agent_key, begun_by)
  ${one ? `SELECT ${params.list('relayed')} FROM written` : relayedRowsSql(params)}
  ON CONFLICT DO NOTHING
)`;

const relayedRowsSql = (params: StatementParameters): string => `SELECT * FROM ${params.rows('relayed')} AS turn
  WHERE (turn.task_id IN (SELECT task_id FROM written)) IS TRUE`;

const remotesSql = (params: StatementParameters): string => `
met AS (
  UPDATE registered_agent_task AS turn
  SET remote_task_id = coalesce(ids.remote_task_id, turn.remote_task_id), remote_context_id = ids.remote_context_id
  FROM ${params.rows('remotes')} AS ids
  WHERE turn.task_id = ids.task_id AND (ids.task_id IN (SELECT task_id FROM written)) IS TRUE
)`;

const promptsSql = (params: StatementParameters): string => `
prompted AS (
  INSERT INTO task_prompt (task_id, sequence, body)
  SELECT * FROM ${params.rows('prompts')} AS prompt
  WHERE (prompt.task_id IN (SELECT task_id FROM written)) IS TRUE
)`;

// Each call counts once for its day, once for its own Task, and once for each Task above it, up to the run that began
// them all. Rows of days are the writer's own, and rows of Tasks are written in the order of their keys, so two statements never deadlock.
// The charge of a call (RunBudgets) belongs to the Task that made it.
const usageSql = (params: StatementParameters): string => `
spent AS MATERIALIZED (
  SELECT task_id, parent_task_id, tenant, owner, workflow, model, input_tokens, output_tokens, cached_tokens,
         reasoning_tokens, cache_write_tokens, cost::numeric
  FROM ${params.rows('usage')} AS spent
  WHERE (spent.task_id IN (SELECT task_id FROM written)) IS TRUE
),
above (task_id, ancestor) AS (
  SELECT DISTINCT task_id, parent_task_id COLLATE "C" FROM spent WHERE parent_task_id IS NOT NULL
  UNION
  SELECT above.task_id, next.parent_task_id
  FROM above CROSS JOIN LATERAL (
    SELECT parent_task_id FROM task WHERE task.task_id = above.ancestor
    UNION ALL
    SELECT parent_task_id FROM ${params.rows('created', 0, 6)} AS fresh
    WHERE fresh.task_id = above.ancestor
  ) AS next
  WHERE next.parent_task_id IS NOT NULL
),
stored AS MATERIALIZED (
  SELECT task_id FROM written
  UNION ALL
  SELECT task_id FROM task WHERE task_id = ANY (ARRAY(SELECT DISTINCT ancestor FROM above))
),
spent_by_day AS (
  INSERT INTO usage_day AS held (tenant, owner, day, workflow, model, writer, ${USAGE_SUMS})
  SELECT tenant, owner, (now() AT TIME ZONE 'UTC')::date, workflow, model, current_setting('${WRITER_SETTING}'), ${SUMMED}
  FROM spent GROUP BY tenant, owner, workflow, model ORDER BY tenant, owner, workflow, model
  ON CONFLICT (tenant, owner, day, workflow, model, writer) DO UPDATE SET ${ADDED_USAGE}
),
settled_charges AS (
  UPDATE budget_charge AS charge
  SET is_settled = true, usd = coalesce(known.cost, charge.usd), tokens = coalesce(known.tokens, charge.tokens)
  FROM (
    SELECT task_id, sum(input_tokens + output_tokens) AS tokens,
           CASE WHEN count(cost) = count(*) THEN sum(cost) END AS cost
    FROM spent GROUP BY task_id
  ) AS known
  WHERE charge.task_id = known.task_id AND NOT charge.is_settled
),
spent_by_task AS (
  INSERT INTO task_usage AS held (task_id, workflow, model, ${USAGE_SUMS})
  SELECT counted.ancestor, spent.workflow, spent.model, ${SUMMED}
  FROM (SELECT task_id, ancestor FROM above UNION SELECT task_id, task_id COLLATE "C" FROM spent) AS counted
    JOIN spent ON spent.task_id = counted.task_id
  WHERE (counted.ancestor IN (SELECT task_id FROM stored)) IS TRUE
  GROUP BY counted.ancestor, spent.workflow, spent.model ORDER BY counted.ancestor, spent.workflow, spent.model
  ON CONFLICT (task_id, workflow, model) DO UPDATE SET ${ADDED_USAGE}
)`;

const USAGE_COLUMNS = [
  ['calls', 'count(*)'],
  ['reported', 'count(input_tokens)'],
  ['priced', 'count(cost)'],
  ['input_tokens', 'coalesce(sum(input_tokens), 0)'],
  ['output_tokens', 'coalesce(sum(output_tokens), 0)'],
  ['cached_tokens', 'coalesce(sum(cached_tokens), 0)'],
  ['reasoning_tokens', 'coalesce(sum(reasoning_tokens), 0)'],
  ['cache_write_tokens', 'coalesce(sum(cache_write_tokens), 0)'],
  ['cost', 'coalesce(sum(cost), 0)'],
] as const;
const USAGE_SUMS = USAGE_COLUMNS.map(([column]) => column).join(', ');
const SUMMED = USAGE_COLUMNS.map(([, sum]) => sum).join(', ');

/** SQL assignments that add newly counted sums of model calls to the sums of an existing row. */
const ADDED_USAGE = USAGE_COLUMNS.map(([column]) => `${column} = held.${column} + EXCLUDED.${column}`).join(', ');

// Only jobs of Tasks that were written.
const queuedJobsSql = (params: StatementParameters): string => `
queued AS MATERIALIZED (${enqueueForCallersFrom(`(
  SELECT name, payload, key, run_at, max_attempts, priority, caller
  FROM ${params.rows('jobs')} AS wanted
  WHERE (wanted.task_id IN (SELECT task_id FROM written)) IS TRUE)`)})`;
