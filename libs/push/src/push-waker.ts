import { Injectable } from '@nestjs/common';
import type { ClientBase } from 'pg';
import { Jobs } from '#libs/job-queue';
import { inTransaction } from '#libs/postgres';
import { RECEIVER_OF_URL } from './push-lane-migration.js';
import { WAKE } from './push-migrations.js';
import { type PushCaller, type PushQueue, PushQueues, PushSessions } from './push-queues.js';

/** Maximum number of callers whose events are in one portion. */
const CALLERS = 5;
/** Maximum number of events of one caller per portion. */
const EVENTS_OF_A_CALLER = 20;

interface WakingTask extends PushCaller {
  taskId: string;
}

/**
 * Puts the push configs (webhooks) of Tasks with new events into the queues of their receivers ("wakes" them).
 * - Each event is handled at least once after its commit, even if the committing process died.
 * - Events are handled in portions: one short transaction for at most 100 events. Callers alternate, however many
 *   events each has.
 * - Processes work concurrently: each skips rows that another process has locked.
 */
@Injectable()
export class PushWaker {
  constructor(
    private readonly database: PushSessions,
    private readonly queues: PushQueues,
    jobs: Jobs,
  ) {
    jobs.registerHandler(WAKE, {
      purpose: 'push',
      read: () => undefined,
      run: (_payload, { signal }) => this.wakeAll(signal),
    });
  }

  /**
   * Wakes the configs of all waiting events, except events that another process has locked. Rejects if the database is
   * unreachable.
   */
  async wakeAll(signal: AbortSignal): Promise<void> {
    let last: PushCaller | undefined;
    for (;;) {
      signal.throwIfAborted();
      const woken = await this.wakePortion(last);
      if (woken !== undefined) this.queues.announceDue();
      if (woken === undefined && last === undefined) return;
      last = woken;
    }
  }

  /**
   * Wakes the configs of the next portion of events.
   * @returns the caller of the last event; `undefined` if no caller after `last` has waiting events
   */
  wakePortion(last?: PushCaller): Promise<PushCaller | undefined> {
    return inTransaction(this.database, async (client) => {
      const tasks = await takePortion(client, last);
      if (tasks.length > 0) await this.wakeTasks(client, [...new Set(tasks.map(({ taskId }) => taskId))]);
      return tasks.at(-1);
    });
  }

  private async wakeTasks(client: ClientBase, taskIds: readonly string[]): Promise<void> {
    // A separate statement: it waits for lanes that are about to find nothing left and hold the config. The next
    // statement sees their changes.
    await client.query(LOCK, [taskIds]);
    await this.queues.makeDue((await client.query<PushQueue>(SCHEDULE, [taskIds])).rows, client);
  }
}

async function takePortion(client: ClientBase, last: PushCaller | undefined): Promise<WakingTask[]> {
  const values: unknown[] = [CALLERS, EVENTS_OF_A_CALLER];
  if (last) values.push(last.tenant, last.owner);
  return (await client.query<WakingTask>(takeStatement(last ? '(tenant, owner) > ($3, $4)' : 'true'), values)).rows;
}

/**
 * Returns the statement that takes the next portion. It finds each caller by one index lookup, however many rows the
 * caller has.
 * @param from SQL condition on the first caller
 */
const takeStatement = (from: string): string => `
  WITH RECURSIVE caller AS (
    (SELECT tenant, owner FROM push_waking WHERE ${from} ORDER BY tenant, owner LIMIT 1)
    UNION ALL
    SELECT later.tenant, later.owner FROM caller, LATERAL (
      SELECT tenant, owner FROM push_waking
      WHERE (push_waking.tenant, push_waking.owner) > (caller.tenant, caller.owner)
      ORDER BY tenant, owner LIMIT 1) AS later
  ),
  taken AS MATERIALIZED (
    SELECT waking.* FROM (SELECT tenant, owner FROM caller LIMIT $1) AS next, LATERAL (
      SELECT tenant, owner, number FROM push_waking
      WHERE push_waking.tenant = next.tenant AND push_waking.owner = next.owner
      ORDER BY number LIMIT $2 FOR UPDATE SKIP LOCKED) AS waking
  ),
  gone AS (
    DELETE FROM push_waking USING taken
    WHERE (push_waking.tenant, push_waking.owner, push_waking.number) = (taken.tenant, taken.owner, taken.number)
    RETURNING push_waking.*
  )
  SELECT tenant, owner, task_id AS "taskId" FROM gone ORDER BY tenant, owner, number`;

const LOCK = `
  SELECT FROM push_config WHERE task_id = ANY($1::text[]) ORDER BY task_id, config_id FOR UPDATE`;

const SCHEDULE = `
  WITH changed AS (
    UPDATE push_config SET scheduled = true, turn = turn + 1, receiver = coalesce(receiver, ${RECEIVER_OF_URL}),
      due_at = now(), lane = NULL, updated_at = now()
    WHERE task_id = ANY($1::text[]) AND NOT scheduled AND disabled_reason IS NULL AND deleted_at IS NULL
    RETURNING tenant, owner, receiver
  )
  SELECT DISTINCT tenant, owner, receiver FROM changed`;
