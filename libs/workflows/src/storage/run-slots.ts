import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import type { PoolClient } from 'pg';
import type { RequestContext } from '#libs/agents';
import { Jobs, scheduleUpkeep } from '#libs/job-queue';
import { callerFlagSql } from '#libs/jobs';
import { Database, inTransaction } from '#libs/postgres';
import { textStart } from '#libs/protocol';
import { ClaimLost } from '#libs/tasks';
import type { SlotOutcome, SlotRequest } from '#libs/workflow-engine';

/** Name of the job that passes the slot of an ended run on. The trigger `run_slot_ended` enqueues it. */
const FREE_SLOT = 'runs.free-slot';
/** Cron entry of the sweep that finds slots which no job has passed on. */
const SWEEP = { name: 'runs.check-slots', match: '* * * * *' };
/** Maximum number of runs that wait for the slots of one gate. */
const MOST_WAITING = 10_000;
/** Maximum number of gates that one sweep handles. */
const MOST_SWEPT = 1_000;
/** Maximum number of characters of a key that are stored for readers. */
const LONGEST_KEY = 200;

type SlotSeeker = Pick<RequestContext, 'taskId' | 'token' | 'call'>;

/**
 * Slots of the runs of workflows with `concurrency`, which all replicas share.
 * - A gate is a tenant, a workflow and a value of `concurrency.key`. At most `limit` runs of a gate have slots.
 * - A run keeps its slot until it ends, also while it waits for an answer, and whichever replica executes it.
 * - Free slots go to the runs that have waited longest. The limit is that of the run that came last.
 * - A slot counts only while its run has not ended, so a slot that no job has passed on does not block other runs.
 * - Every change of a gate holds its advisory lock, which is taken before the row of any Task.
 */
@Injectable()
export class PostgresRunSlots {
  private readonly queues = new Map<string, Promise<unknown>>();

  constructor(private readonly database: Database) {}

  /** Requests a slot for a run; see `RunServices.slots`. */
  async requestSlot(run: SlotSeeker, request: SlotRequest): Promise<SlotOutcome> {
    const gate = gateOf(run, request);
    return this.runInTurn(gate, async () => {
      try {
        const until = request.until && this.database.timeThere(request.until);
        return await inTransaction(this.database, (client) => enterGate(client, gate, run, { ...request, until }));
      } catch (error) {
        if (error instanceof ClaimLost) return 'lost';
        throw error;
      }
    });
  }

  /** Removes the slot of a run that has ended, and passes it on in the same commit. */
  async freeSlot(taskId: string): Promise<void> {
    const { rows } = await this.database.pool.query<{ gate: string }>(FIND_GATE, [taskId]);
    if (rows[0]) await this.passOn(rows[0].gate, REMOVE_ONE, taskId);
  }

  /** Passes on all free slots that runs wait for although no job is left that would pass them on. */
  async sweepSlots(signal: AbortSignal): Promise<void> {
    const { rows } = await this.database.pool.query<{ gate: string }>(STUCK_GATES, [MOST_SWEPT]);
    for (const { gate } of rows) if (!signal.aborted) await this.passOn(gate, REMOVE_ENDED, gate);
  }

  private passOn(gate: string, removal: string, value: string): Promise<void> {
    return this.runInTurn(gate, () =>
      inTransaction(this.database, async (client) => {
        await client.query(LOCK, [gate]);
        await client.query(removal, [value]);
        await client.query(ADMIT, [gate]);
      }),
    );
  }

  /** Runs the work on a gate one after the other, so that a gate uses one session of this process at most. */
  private async runInTurn<T>(gate: string, work: () => Promise<T>): Promise<T> {
    const before = this.queues.get(gate);
    const result = before ? before.then(work, work) : work();
    this.queues.set(gate, result);
    try {
      return await result;
    } finally {
      if (this.queues.get(gate) === result) this.queues.delete(gate);
    }
  }
}

/** Job and sweep that pass on the slots of ended runs. */
@Injectable()
export class RunSlotJobs {
  constructor(jobs: Jobs, slots: PostgresRunSlots) {
    jobs.registerHandler(FREE_SLOT, {
      read: (payload) => payload as { taskId: string },
      run: ({ taskId }) => slots.freeSlot(taskId),
    });
    scheduleUpkeep(jobs, SWEEP, (signal) => slots.sweepSlots(signal));
  }
}

async function enterGate(
  client: PoolClient,
  gate: string,
  { taskId, token }: SlotSeeker,
  { key, concurrency: { limit, onFull = 'wait' }, until }: Omit<SlotRequest, 'until'> & { until: Date | undefined },
): Promise<SlotOutcome> {
  await client.query(LOCK, [gate]);
  if ((await client.query(FIND_SLOT_ABOVE, [taskId, gate])).rows.length > 0) return 'held';
  const inserted = await client.query(ENTER, [taskId, gate, readableKey(key), limit]);
  await client.query(ADMIT, [gate]);
  const { rows } = await client.query<{ is_held: boolean }>(READ_SLOT, [taskId]);
  if (rows[0]?.is_held) return (await changeTask(client, HOLD, [taskId, token]), 'held');
  const isNew = inserted.rowCount === 1;
  if (isNew && (onFull === 'skip' || (await isCrowded(client, gate)))) {
    await client.query(REMOVE, [taskId]);
    return onFull === 'skip' ? 'full' : 'crowded';
  }
  if (isNew && onFull === 'cancel-oldest') await client.query(CANCEL_OLDEST, [gate, limit]);
  await changeTask(client, PARK, [taskId, token, until]);
  return 'parked';
}

async function isCrowded(client: PoolClient, gate: string): Promise<boolean> {
  const { rows } = await client.query<{ waiting: number }>(COUNT_WAITING, [gate, MOST_WAITING + 1]);
  return (rows[0]?.waiting ?? 0) > MOST_WAITING;
}

/** Changes the row of a Task that this execution holds. @throws ClaimLost, which rolls the transaction back */
async function changeTask(client: PoolClient, statement: string, values: readonly unknown[]): Promise<void> {
  const { rowCount } = await client.query(statement, [...values]);
  if (rowCount === 0) throw new ClaimLost('Another process has the claim of this run');
}

function gateOf({ call }: SlotSeeker, { workflow, key }: SlotRequest): string {
  return createHash('sha256')
    .update(JSON.stringify([call.scope.tenant, workflow, key]))
    .digest('hex');
}

/** Returns the beginning of a key as PostgreSQL stores it: without \u0000 and unpaired surrogates. */
function readableKey(key: string): string {
  return textStart(key, LONGEST_KEY).replaceAll('\0', '').toWellFormed();
}

const ENDED = `('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')`;

/** Returns the SQL expression that enqueues the job which wakes a Task. @param more further arguments of the job */
function wakeSql(...more: string[]): string {
  const flags = `flags => ARRAY[${callerFlagSql('tenant', 'owner')}]`;
  const given = ["job_key => 'tasks.wake/' || task_id", flags, ...more].join(', ');
  return `graphile_worker.add_job('tasks.wake', json_build_object('taskId', task_id), ${given})`;
}

const LOCK = `SELECT pg_advisory_xact_lock(hashtextextended('run-slot ' || $1, 0))`;
const FIND_GATE = 'SELECT gate FROM run_slot WHERE task_id = $1';
const ENTER = `
  INSERT INTO run_slot (task_id, gate, key, most) VALUES ($1, $2, $3, $4) ON CONFLICT (task_id) DO NOTHING`;

/**
 * Query for the slot of a run that waits for this one, at any distance above it. Such a slot counts for both: if this
 * run waited for another slot, neither could end.
 */
const FIND_SLOT_ABOVE = `
  WITH RECURSIVE above AS (
    SELECT parent_task_id AS task_id FROM task WHERE task_id = $1
    UNION SELECT task.parent_task_id FROM above JOIN task USING (task_id)
  )
  SELECT FROM above JOIN run_slot USING (task_id) WHERE gate = $2 AND is_held LIMIT 1`;
const READ_SLOT = 'SELECT is_held FROM run_slot WHERE task_id = $1';
const REMOVE = 'DELETE FROM run_slot WHERE task_id = $1';
const COUNT_WAITING = `
  SELECT count(*)::int AS waiting FROM (SELECT FROM run_slot WHERE gate = $1 AND NOT is_held LIMIT $2) AS few`;

const REMOVE_ONE = `
  DELETE FROM run_slot USING task
  WHERE run_slot.task_id = $1 AND task.task_id = run_slot.task_id AND task.state IN ${ENDED}`;
const REMOVE_ENDED = `
  DELETE FROM run_slot USING task
  WHERE run_slot.gate = $1 AND task.task_id = run_slot.task_id AND task.state IN ${ENDED}`;

/**
 * Statement that gives the free slots of a gate to the runs that have waited longest, and makes those that are parked
 * due. A run that another execution has claimed, such as one that is being canceled, needs no waking.
 */
const ADMIT = `
  WITH room AS MATERIALIZED (
    SELECT greatest(
      (SELECT most FROM run_slot WHERE gate = $1 ORDER BY seq DESC LIMIT 1) - (
        SELECT count(*) FROM run_slot JOIN task USING (task_id)
        WHERE gate = $1 AND is_held AND state NOT IN ${ENDED}), 0) AS free
  ),
  next AS MATERIALIZED (
    SELECT run_slot.task_id FROM run_slot JOIN task USING (task_id)
    WHERE gate = $1 AND NOT is_held AND state NOT IN ${ENDED}
    ORDER BY seq LIMIT (SELECT free FROM room)
  ),
  admitted AS (
    UPDATE run_slot SET is_held = true WHERE task_id IN (SELECT task_id FROM next) RETURNING task_id
  ),
  due AS (
    UPDATE task SET wake_at = now()
    WHERE task_id IN (SELECT task_id FROM admitted) AND claim_token IS NULL AND state NOT IN ${ENDED}
    RETURNING task_id, tenant, owner
  )
  SELECT ${wakeSql()} FROM due`;

const HOLD = `
  UPDATE task SET has_run_slot = true WHERE task_id = $1 AND claim_token = $2 AND state NOT IN ${ENDED}`;

/**
 * Statement that parks a run. It is woken when it gets a slot, and at its deadline ($3); once a day it requests a slot
 * again. A cancel request that nothing has carried out makes it due at once.
 */
const PARK = `
  WITH parked AS (
    UPDATE task SET has_run_slot = true, replica_id = NULL, claim_token = NULL,
      wake_at = CASE WHEN cancel_requested_at IS NULL THEN least(now() + interval '1 day', $3::timestamptz) ELSE now() END
    WHERE task_id = $1 AND claim_token = $2 AND state NOT IN ${ENDED}
    RETURNING task_id, tenant, owner, wake_at
  )
  SELECT CASE WHEN $3::timestamptz IS NOT NULL THEN ${wakeSql('run_at => wake_at')} END FROM parked`;

/**
 * Statement that requests the cancel of the oldest runs of a gate, so that the newest run has a slot once they have
 * ended. $2 limit.
 */
const CANCEL_OLDEST = `
  WITH newest AS MATERIALIZED (
    SELECT task_id FROM run_slot JOIN task USING (task_id)
    WHERE gate = $1 AND state NOT IN ${ENDED} ORDER BY seq DESC LIMIT $2
  ),
  canceled AS (
    UPDATE task SET cancel_requested_at = now(), wake_at = least(wake_at, now())
    WHERE task_id IN (SELECT task_id FROM run_slot WHERE gate = $1) AND task_id NOT IN (SELECT task_id FROM newest)
      AND cancel_requested_at IS NULL AND state NOT IN ${ENDED}
    RETURNING task_id, tenant, owner
  )
  SELECT ${wakeSql()} FROM canceled`;

/** Query for gates with a run that has ended, or with waiting runs and a slot that is free by the newest limit. */
const STUCK_GATES = `
  SELECT gate FROM run_slot JOIN task USING (task_id)
  GROUP BY gate
  HAVING bool_or(state IN ${ENDED})
    OR bool_or(NOT is_held) AND count(*) FILTER (WHERE is_held) < (array_agg(most ORDER BY seq DESC))[1]
  LIMIT $1`;
