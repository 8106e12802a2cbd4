import type { Pool } from 'pg';
import { ENDED } from './cancel-wish.js';

/** Maximum number of callers with parked Tasks per lookup, if there are more overdue Tasks than it may return. */
const CALLERS_AT_ONCE = 64;

interface OverdueCaller {
  tenant: string;
  owner: string;
}

/**
 * Finds overdue parked Tasks: the oldest, and if there are more, also one Task of each of the next callers, so that no
 * caller's Tasks hide those of others. Callers take turns from one lookup to the next.
 */
export class OverdueTasks {
  /** Caller that had the last turn; `undefined` before the first turn, and after a full round. */
  private last: OverdueCaller | undefined;

  constructor(private readonly sessions: Pool) {}

  /**
   * @param byMs milliseconds for which the Tasks have been due
   * @param except Tasks to leave out
   * @returns at most `limit` ids
   */
  async findOverdue(byMs: number, limit: number, except: readonly string[]): Promise<string[]> {
    const { rows } = await this.sessions.query<{ task_id: string }>({
      name: 'tasks-overdue',
      text: OLDEST,
      values: [byMs, limit, except],
    });
    const oldest = rows.map((row) => row.task_id);
    if (oldest.length < limit) return oldest;
    const inTurn = await this.findInTurn(byMs, Math.floor(limit / 2), except);
    return [...new Set([...inTurn, ...oldest])].slice(0, limit);
  }

  private async findInTurn(byMs: number, limit: number, except: readonly string[]): Promise<string[]> {
    const { last } = this;
    const { rows } = await this.sessions.query<OverdueCaller & { task_id: string | null }>({
      name: last ? 'tasks-overdue-after' : 'tasks-overdue-first',
      text: inTurnStatement(last ? '(tenant, owner) > ($4, $5)' : 'true'),
      values: [byMs, CALLERS_AT_ONCE, except, ...(last ? [last.tenant, last.owner] : [])],
    });
    const late = rows.filter(({ task_id: taskId }) => taskId !== null).slice(0, limit);
    const hasMore = rows.length === CALLERS_AT_ONCE || late.length === limit;
    this.last = hasMore ? (late.length === limit ? late : rows).at(-1) : undefined;
    return late.map((row) => row.task_id!);
  }
}

const IS_PARKED = `wake_at IS NOT NULL AND replica_id IS NULL AND state NOT IN ${ENDED}`;
const IS_LATE = `${IS_PARKED} AND wake_at <= now() - $1 * interval '1 millisecond'
      AND task_id NOT IN (SELECT unnest($3::text[]))`;

const OLDEST = `SELECT task_id FROM task WHERE ${IS_LATE} ORDER BY wake_at LIMIT $2`;

/** Finds the next callers by index, with one lookup for each, however many parked Tasks they have. */
const inTurnStatement = (from: string): string => `
  WITH RECURSIVE caller AS (
    (SELECT tenant, owner FROM task WHERE ${IS_PARKED} AND ${from} ORDER BY tenant, owner LIMIT 1)
    UNION ALL
    SELECT later.tenant, later.owner FROM caller, LATERAL (
      SELECT tenant, owner FROM task
      WHERE ${IS_PARKED} AND (task.tenant, task.owner) > (caller.tenant, caller.owner)
      ORDER BY tenant, owner LIMIT 1) AS later
  )
  SELECT next.tenant, next.owner, late.task_id FROM (SELECT tenant, owner FROM caller LIMIT $2) AS next
  LEFT JOIN LATERAL (
    SELECT task_id FROM task WHERE task.tenant = next.tenant AND task.owner = next.owner AND ${IS_LATE}
    ORDER BY wake_at LIMIT 1) AS late ON true
  ORDER BY next.tenant, next.owner`;
