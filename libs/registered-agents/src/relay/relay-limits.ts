import { Injectable } from '@nestjs/common';
import { Database, inTransaction } from '#libs/postgres';
import { isActiveState, TASK_STATES } from '#libs/protocol';
import { agentKey, type RelayTalk } from './relay-tasks.js';

const MINUTE_MS = 60_000;
/** Maximum milliseconds that an agent can delay the Messages of all callers. */
const LONGEST_PAUSE_MS = 3_600_000;

/**
 * Limits of the calls of registered agents, which all replicas share.
 * - A slot belongs to a Task while the Task works. A slot needs no release: it counts only while the state of the Task
 *   is active, so it is free once the Task ends or waits for an answer. A recovered turn keeps its slot. A turn on
 *   which the agent already works takes a slot even if none is free.
 * - Messages of a limited rate are evenly spaced; a pause that the agent asks for delays the next ones. A recovered turn keeps the time that was reserved for its Message.
 */
@Injectable()
export class RelayLimits {
  constructor(private readonly database: Database) {}

  /** Takes a slot for the turn of a Task. @returns false while `most` other Tasks of the agent have slots */
  async takeSlot(talk: RelayTalk, taskId: string, most: number): Promise<boolean> {
    const key = agentKey(talk);
    return inTransaction(this.database, async (client) => {
      await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`registered-agent ${key}`]);
      const { rowCount } = await client.query(TAKE_SLOT, [key, taskId, most]);
      return rowCount === 1;
    });
  }

  /**
   * Reserves the time at which the Message of a turn may be sent to the agent. If the turn has a reserved time already
   * and `isUnused` is true (no attempt has sent the Message), keeps that time.
   * @param longestMs maximum wait in milliseconds
   * @returns milliseconds until the Message may be sent; `undefined` if a new wait would be longer than `longestMs`,
   * and nothing is reserved then
   */
  async reserveMessage(
    talk: RelayTalk,
    { taskId, isUnused }: { taskId: string; isUnused: boolean },
    perMinute: number,
    longestMs: number,
  ): Promise<number | undefined> {
    const values = [agentKey(talk), MINUTE_MS / perMinute, longestMs, taskId, isUnused];
    const { rows } = await this.database.pool.query<{ wait: number }>({ name: 'relay-rate', text: RESERVE, values });
    return rows[0] && Math.max(rows[0].wait, 0);
  }

  /** Delays the next Message of a limited rate, because the agent asks for a pause; by at most LONGEST_PAUSE_MS. */
  async postponeMessages(talk: RelayTalk, pauseMs: number): Promise<void> {
    await this.database.pool.query(POSTPONE, [agentKey(talk), Math.min(pauseMs, LONGEST_PAUSE_MS)]);
  }

  /** Deletes the reserved sending times of a deleted agent. Its slots end with its Tasks. */
  async forgetAgent(tenant: string, agent: string): Promise<void> {
    const key = agentKey({ scope: { tenant }, agent });
    await this.database.pool.query('DELETE FROM registered_agent_rate WHERE agent_key = $1', [key]);
  }
}

const ACTIVE = TASK_STATES.filter(isActiveState)
  .map((state) => `'${state}'`)
  .join(', ');
const TAKE_SLOT = `
  UPDATE registered_agent_task SET has_slot = true
  WHERE task_id = $2 AND $3 > (
    SELECT count(*) FROM registered_agent_task other JOIN task ON task.task_id = other.task_id
    WHERE other.agent_key = $1 AND other.has_slot AND other.task_id <> $2 AND task.state IN (${ACTIVE}))`;
const POSTPONE = `
  UPDATE registered_agent_rate
  SET free_at = greatest(free_at, clock_timestamp() + $2::float8 * interval '1 millisecond') WHERE agent_key = $1`;
const INTERVAL = `$2::float8 * interval '1 millisecond'`;
/**
 * Statement that reserves the time of a Message. `free_at` is the earliest time of the next Message to the agent: one
 * interval after the newest reserved time.
 */
const RESERVE = `
  WITH kept AS MATERIALIZED (
    SELECT may_send_at FROM registered_agent_task WHERE task_id = $4 AND may_send_at >= begun_at AND $5::boolean
  ),
  reserved AS (
    INSERT INTO registered_agent_rate AS rate (agent_key, free_at)
    SELECT $1, clock_timestamp() + ${INTERVAL} WHERE NOT EXISTS (SELECT FROM kept)
    ON CONFLICT (agent_key) DO UPDATE SET free_at = greatest(rate.free_at, clock_timestamp()) + ${INTERVAL}
    WHERE rate.free_at - clock_timestamp() <= $3::float8 * interval '1 millisecond'
    RETURNING free_at - ${INTERVAL} AS may_send_at
  ),
  noted AS (
    UPDATE registered_agent_task AS turn SET may_send_at = reserved.may_send_at FROM reserved WHERE turn.task_id = $4
  )
  SELECT extract(epoch FROM may_send_at - clock_timestamp())::float8 * 1000 AS wait
  FROM (TABLE kept UNION ALL TABLE reserved) AS either`;
