import { Injectable } from '@nestjs/common';
import { RemoteContexts, type RemoteTalk, talkKey } from '#libs/durable';
import { callerFlag } from '#libs/jobs';
import { BatchLoader, Database } from '#libs/postgres';
import { isTerminalState, TASK_STATES } from '#libs/protocol';
import { firstTaskIdOf, TaskRetention, type TaskScope, TaskStore } from '#libs/tasks';
import {
  type LaterOutcome,
  type MovedOnChild,
  type NextLook,
  readRunMetadata,
  type RemoteLook,
  remoteLookKey,
  RERUN_KEY,
  type RerunOrigin,
  type RunChild,
  RunChildStore,
} from '#libs/workflow-engine';
import { type LookPlace, RemoteLookStore } from '../children/remote-looks.js';
import { MAKE_DUE } from '../children/run-waking.js';
import { WorkflowStore } from './workflow-store.js';

/**
 * Stores the outcomes of retried cancels. They cannot be in the log of the run, which takes no more events after its
 * end.
 */
@Injectable()
export class CancelOutcomes {
  constructor(
    private readonly database: Database,
    retention: TaskRetention,
  ) {
    retention.purgeWith('DELETE FROM run_cancel WHERE run_id = ANY($1::text[])');
  }

  /**
   * Stores an outcome. Resolves when the outcome is durable. If one is already stored for the same run, node and
   * attempt, nothing changes.
   */
  async recordOutcome({ runId, node, attempt, outcome }: LaterOutcome): Promise<void> {
    await this.database.pool.query(
      `INSERT INTO run_cancel (run_id, node_id, attempt, outcome) VALUES ($1, $2, $3, $4)
       ON CONFLICT (run_id, node_id, attempt) DO NOTHING`,
      [runId, node, attempt, outcome],
    );
  }

  /** Returns the stored outcomes of a run. */
  async listOutcomes(runId: string): Promise<LaterOutcome[]> {
    const { rows } = await this.database.pool.query<LaterOutcome>(
      `SELECT run_id AS "runId", node_id AS node, attempt, outcome FROM run_cancel
       WHERE run_id = $1 ORDER BY node_id, attempt`,
      [runId],
    );
    return rows;
  }
}

/** RemoteContexts on PostgreSQL. */
@Injectable()
export class PostgresRemoteContexts extends RemoteContexts {
  constructor(
    private readonly database: Database,
    retention: TaskRetention,
  ) {
    super();
    retention.purgeWith('DELETE FROM remote_context WHERE task_id = ANY($1::text[])');
  }

  async findContext(talk: RemoteTalk): Promise<string | undefined> {
    const { rows } = await this.database.pool.query<{ contextId: string }>({
      name: 'remote-context',
      text: 'SELECT context_id AS "contextId" FROM remote_context WHERE key = $1',
      values: [talkKey(talk)],
    });
    return rows[0]?.contextId;
  }

  async keepContext(talk: RemoteTalk, contextId: string, taskId: string): Promise<void> {
    await this.database.pool.query({
      name: 'remote-context-keep',
      text: `INSERT INTO remote_context (key, context_id, task_id) VALUES ($1, $2, $3)
             ON CONFLICT (key) DO UPDATE SET context_id = excluded.context_id, task_id = excluded.task_id`,
      values: [talkKey(talk), contextId, taskId],
    });
  }
}

/** Maximum number of runs whose children are read with one query. */
const RUNS_TOGETHER = 100;
/** Maximum number of concurrent queries for children. */
const QUERIES_AT_ONCE = 4;

/** RunChildStore on PostgreSQL. */
@Injectable()
export class PostgresRunChildStore extends RunChildStore {
  /**
   * Reads the child Tasks of many runs with one query, which a replica needs when it adopts many runs of another
   * replica.
   */
  private readonly children = new BatchLoader(
    (runIds: readonly string[]) => this.readChildren(runIds),
    RUNS_TOGETHER,
    QUERIES_AT_ONCE,
  );

  constructor(
    private readonly database: Database,
    retention: TaskRetention,
  ) {
    super();
    retention.purgeWith('DELETE FROM run_child WHERE run_id = ANY($1::text[])');
  }

  async rememberChild(child: RunChild): Promise<void> {
    await this.database.pool.query({
      name: 'run-child-remember',
      text: `INSERT INTO run_child (run_id, node_id, attempt, task_id, agent_url) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (run_id, node_id, attempt) DO NOTHING`,
      values: [child.runId, child.nodeId, child.attempt, child.taskId, child.agentUrl],
    });
  }

  async listChildren(runId: string): Promise<RunChild[]> {
    return (await this.children.get(runId)) ?? [];
  }

  async movedOn(runId: string): Promise<MovedOnChild[]> {
    const { rows } = await this.database.pool.query<MovedOnChild>({
      name: 'run-children-moved-on',
      text: `SELECT node_id AS "nodeId", asked FROM remote_moved_on WHERE run_id = $1`,
      values: [runId],
    });
    return rows;
  }

  private async readChildren(runIds: readonly string[]): Promise<Map<string, RunChild[]>> {
    const { rows } = await this.database.pool.query<RunChild>({
      name: 'children-of-runs',
      text: `SELECT run_id AS "runId", node_id AS "nodeId", attempt, task_id AS "taskId", agent_url AS "agentUrl"
             FROM run_child WHERE run_id = ANY($1::text[]) ORDER BY node_id, attempt`,
      values: [runIds],
    });
    return Map.groupBy(rows, ({ runId }) => runId);
  }
}

/** Looks up the original runs of reruns. An original run is not deleted until the rerun has ended. */
@Injectable()
export class RerunOrigins {
  constructor(
    private readonly tasks: TaskStore,
    private readonly workflows: WorkflowStore,
    retention: TaskRetention,
  ) {
    retention.keepWith(STILL_NEEDED);
  }

  /** Returns an original run; `undefined` if the caller may not read it, or it is no longer stored. */
  async findOrigin(runId: string, scope: TaskScope): Promise<RerunOrigin | undefined> {
    const header = await this.tasks.readHeader(runId, scope);
    if (header === undefined) return undefined;
    const log = (await this.tasks.readEvents(runId, 0, header.lastSequence)).map(({ event }) => event);
    const [first] = log;
    const { workflow, revision } = first && 'task' in first ? readRunMetadata(first.task.metadata) : {};
    if (workflow === undefined || revision === undefined) return undefined;
    const saved = await this.workflows.inTenant(header.tenant).get(workflow, revision);
    return saved && { workflow: saved, log };
  }
}

const ENDED = TASK_STATES.filter(isTerminalState)
  .map((state) => `'${state}'`)
  .join(', ');

/**
 * SQL query for the runs in the relation `old` that must be kept because unfinished reruns reuse their results. Visits
 * each context once, however many of its Tasks would be deleted. The Task of a rerun is searched as text, because
 * PostgreSQL cannot parse JSON with \u0000, which callers may send. If the text matches by chance, a run of the same
 * caller is only kept for too long.
 */
const STILL_NEEDED = `
  WITH rerun AS MATERIALIZED (
    SELECT task.tenant, task.owner, task.agent, task.context_id, coalesce(log.events, log.payload::text) AS begun
    FROM task JOIN task_log AS log ON log.task_id = task.task_id
      AND log.sequence = (SELECT min(first.sequence) FROM task_log AS first WHERE first.task_id = task.task_id)
    WHERE task.context_id = ANY(ARRAY(SELECT context_id FROM old WHERE agent ~ '^workflows/[^/]+$'))
      AND task.parent_task_id IS NULL AND task.state NOT IN (${ENDED})
  )
  SELECT old.task_id FROM old JOIN rerun USING (tenant, owner, agent, context_id)
  WHERE strpos(rerun.begun, '"${RERUN_KEY}":{"origin":"' || old.task_id || '"') > 0`;

/** RemoteLookStore on PostgreSQL. */
@Injectable()
export class PostgresRemoteLookStore extends RemoteLookStore {
  constructor(
    private readonly database: Database,
    retention: TaskRetention,
  ) {
    super();
    retention.purgeWith('DELETE FROM remote_moved_on WHERE run_id = ANY($1::text[])');
  }

  override async readPlace({ runId, node, asked }: RemoteLook): Promise<LookPlace> {
    const { rows } = await this.database.pool.query<LookPlace>(PLACE, [runId, node, asked]);
    return rows[0] ?? { ended: true, movedOn: false };
  }

  override async continueWith({ name, key, payload, pause, maxAttempts, priority }: NextLook): Promise<boolean> {
    const values = [
      key,
      payload.asked,
      name,
      JSON.stringify(payload),
      pause,
      maxAttempts,
      priority,
      callerFlag(payload.scope),
    ];
    return ((await this.database.pool.query(CONTINUE, values)).rowCount ?? 0) > 0;
  }

  override async reserveTurn(agent: string, spacing: number): Promise<number> {
    const { rows } = await this.database.pool.query<{ wait: number }>(RESERVE, [agent, spacing]);
    return rows[0]?.wait ?? 0;
  }

  override async keepMovedOn(look: RemoteLook): Promise<void> {
    const { runId, node, asked } = look;
    await this.database.pool.query(KEEP_MOVED_ON, [runId, node, asked, remoteLookKey(look)]);
  }

  override async wakeRun(runId: string): Promise<boolean> {
    return ((await this.database.pool.query(MAKE_DUE, [runId])).rowCount ?? 0) > 0;
  }

  override async forgetIdleAgents(): Promise<void> {
    await this.database.pool.query(`DELETE FROM remote_look_turn WHERE next_at < now() - interval '1 hour'`);
  }
}

const PLACE = `
  SELECT state NOT IN ('TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_INPUT_REQUIRED',
                       'TASK_STATE_AUTH_REQUIRED') AS ended,
         EXISTS (SELECT FROM remote_moved_on WHERE run_id = $1 AND node_id = $2 AND asked = $3) AS "movedOn"
  FROM task WHERE task_id = $1`;

// A job that replaces a running job takes its key first. The lock on the row decides which of the two jobs is seen.
const CONTINUE = `
  WITH mine AS MATERIALIZED (
    SELECT id FROM graphile_worker._private_jobs
    WHERE key = $1 AND payload->>'asked' = $2 AND locked_at IS NOT NULL FOR UPDATE)
  SELECT (graphile_worker.add_job($3, $4::json, run_at => now() + $5::float8 * interval '1 ms',
                                  max_attempts => $6::int, job_key => $1, priority => $7::int,
                                  flags => ARRAY[$8::text])).id
  FROM mine`;

const RESERVE = `
  INSERT INTO remote_look_turn AS turn (agent, next_at) VALUES ($1, now() + $2::float8 * interval '1 ms')
  ON CONFLICT (agent) DO UPDATE SET next_at = greatest(turn.next_at, now()) + $2::float8 * interval '1 ms'
  RETURNING greatest(0, extract(epoch FROM next_at - now()) * 1000 - $2::float8)::float8 AS wait`;

const KEEP_MOVED_ON = `
  INSERT INTO remote_moved_on (run_id, node_id, asked)
  SELECT $1, $2, $3
  WHERE EXISTS (SELECT FROM graphile_worker._private_jobs WHERE key = $4 AND payload->>'asked' = $3)
    AND EXISTS (SELECT FROM task WHERE task_id = $1)
  ON CONFLICT DO NOTHING`;

/**
 * Tolerance for the difference of two clocks, in milliseconds. The id of a Task has the time of the process that
 * created it; a revision has the time of the database.
 */
const CLOCKS_DIFFER_MS = 60_000;

/**
 * Deletes revisions of workflows that are no longer needed. A deleted revision meets all of these conditions:
 * - It was replaced, or its workflow was deleted, longer ago than Tasks are kept.
 * - All stored Tasks of the workflow and its nodes are younger than that, so they began with newer revisions.
 * - No run is recorded as having begun with it (`WorkflowStore.keepFor`); reruns may begin with older revisions.
 * - No stored revision of another workflow runs it.
 */
@Injectable()
export class RevisionPurge {
  constructor(
    private readonly database: Database,
    retention: TaskRetention,
  ) {
    retention.purgeWith('DELETE FROM run_revision WHERE run_id = ANY($1::text[])');
    retention.sweepAfter((olderThan) => this.purgeRevisions(olderThan));
  }

  private async purgeRevisions(olderThan: Date): Promise<void> {
    const replacedBefore = new Date(olderThan.getTime() - CLOCKS_DIFFER_MS);
    await this.database.pool.query(FORGET_UNMADE);
    await this.database.pool.query(PURGE, [replacedBefore, firstTaskIdOf(olderThan)]);
  }
}

// After a purge few Tasks of that age are left: those that have not ended or are still needed, and their children. Ids
// from 'g' on contain no time, and neither do ids with random digits only (the index task_untimed).
const PURGE = `
  WITH kept AS MATERIALIZED (
    SELECT tenant, split_part(agent, '/', 2) AS name, min(created_at) AS oldest FROM (
      SELECT tenant, agent, created_at FROM task WHERE task_id < $2 OR task_id >= 'g'
      UNION ALL
      SELECT tenant, agent, created_at FROM task WHERE substr(task_id, 15, 1) <> '7'
    ) AS old
    WHERE starts_with(agent, 'workflows/') GROUP BY 1, 2
  ),
  replaced AS MATERIALIZED (
    SELECT saved.tenant, saved.name, saved.revision,
           coalesce(lead(saved.created_at) OVER (PARTITION BY saved.tenant, saved.name ORDER BY saved.revision),
                    workflow.deleted_at) AS at
    FROM workflow_revision AS saved JOIN workflow USING (tenant, name)
  )
  DELETE FROM workflow_revision AS saved USING replaced
  WHERE (saved.tenant, saved.name, saved.revision) = (replaced.tenant, replaced.name, replaced.revision)
    AND replaced.at < $1
    AND NOT EXISTS (SELECT FROM workflow_pin AS pin WHERE (pin.tenant, pin.name, pin.revision) = (saved.tenant, saved.name, saved.revision))
    AND NOT EXISTS (SELECT FROM run_revision AS used WHERE (used.tenant, used.name, used.revision) = (saved.tenant, saved.name, saved.revision))
    AND NOT EXISTS (SELECT FROM kept WHERE kept.tenant = saved.tenant AND kept.name = saved.name AND kept.oldest < replaced.at + interval '1 minute')`;

/** Deletes the rows that `KEEP_FOR` wrote for runs that were not created within an hour. */
const FORGET_UNMADE = `
  DELETE FROM run_revision AS used WHERE noted_at < now() - interval '1 hour'
    AND NOT EXISTS (SELECT FROM task WHERE task.task_id = used.run_id)`;
