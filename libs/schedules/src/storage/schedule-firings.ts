import { Injectable } from '@nestjs/common';
import { ProblemError } from '#libs/http-server';
import { Database, inTransaction } from '#libs/postgres';
import { TASK_OUTCOME } from '#libs/tasks';
import { MOST_OPEN, MOST_QUEUED } from '../firing/firing-plan.js';
import { type FiringIds, type NewFiring, ScheduleClock } from '../firing/schedule-clock.js';

/** State of a firing: of its decision, or of its run once that has begun. */
export const FIRING_STATES = [
  ...['queued', 'starting', 'running', 'completed', 'failed', 'canceled', 'ended', 'skipped', 'missed'],
] as const;
export type FiringState =
  | 'queued'
  | 'starting'
  | 'running'
  | 'completed'
  | 'failed'
  | 'canceled'
  | 'ended'
  | 'skipped'
  | 'missed';

/** Time of a schedule, and what came of it. */
export interface ScheduleFiring {
  /** Position in the history of the schedule; later decisions have larger numbers. */
  id: string;
  due: Date;
  cause: 'time' | 'backfill' | 'request';
  state: FiringState;
  /** Id of the run; absent if none was started. */
  runId?: string;
  /** Sentence why no run was started. */
  reason?: string;
  decidedAt: Date;
}

/** Reads and adds firings of schedules. */
@Injectable()
export class ScheduleFirings {
  constructor(
    private readonly database: Database,
    private readonly clock: ScheduleClock,
  ) {}

  /** Returns at most `limit` firings before the firing `before`, newest first; from the newest on without `before`. */
  async listFirings(scheduleId: string, limit: number, before?: string): Promise<ScheduleFiring[]> {
    const { rows } = await this.database.pool.query<FiringRow>(LIST, [scheduleId, before ?? null, limit]);
    return rows.map(toFiring);
  }

  /**
   * Adds a firing for now, whatever runs.
   * @returns its ids; `undefined` if the schedule was deleted
   * @throws ProblemError 422 if too many runs are open
   */
  async addRequested(scheduleId: string): Promise<FiringIds | undefined> {
    return (await this.addFirings(scheduleId, [{ state: 'starting', cause: 'request' }]))[0];
  }

  /**
   * Adds a firing for each of the given times.
   * @returns the number of firings
   * @throws ProblemError 422 if too many runs are open or queued
   */
  async addBackfill(scheduleId: string, times: readonly Date[], state: 'starting' | 'queued'): Promise<number> {
    const firings = times.map((due) => ({ due, state, cause: 'backfill' as const }));
    return (await this.addFirings(scheduleId, firings)).length;
  }

  private async addFirings(scheduleId: string, firings: readonly NewFiring[]): Promise<FiringIds[]> {
    const added = await inTransaction(this.database, (session) => this.clock.addFirings(session, scheduleId, firings));
    if (added) return added;
    const detail = `at most ${MOST_QUEUED} runs of a schedule may be queued, and ${MOST_OPEN} under way: wait for some`;
    throw new ProblemError(422, detail, [{ path: '', detail }], 'TOO_MANY');
  }
}

interface FiringRow {
  firing_id: string;
  due: Date;
  cause: ScheduleFiring['cause'];
  state: string;
  run_id: string | null;
  outcome: string | null;
  reason: string | null;
  decided_at: Date;
  is_known: boolean;
}

function toFiring(row: FiringRow): ScheduleFiring {
  const { due, cause, run_id: runId, reason, decided_at: decidedAt } = row;
  const begun = runId !== null && row.state !== 'queued';
  return {
    id: row.firing_id,
    ...{ due, cause, state: stateOf(row), decidedAt },
    ...(begun && { runId }),
    ...(reason !== null && { reason }),
  };
}

function stateOf({ state, outcome, is_known: isKnown }: FiringRow): FiringState {
  // A run can be seen, and even end, before its firing is noted as started.
  if (state !== 'started' && !(state === 'starting' && isKnown)) return state as FiringState;
  return (outcome ?? (isKnown ? 'running' : 'ended')) as FiringState;
}

const LIST = `
  SELECT firing.*, coalesce(firing.outcome, ${TASK_OUTCOME}) AS outcome, task.task_id IS NOT NULL AS is_known
  FROM schedule_firing AS firing
  LEFT JOIN task ON task.task_id = firing.run_id AND firing.state IN ('starting', 'started')
  WHERE firing.schedule_id = $1 AND ($2::bigint IS NULL OR firing.firing_id < $2)
  ORDER BY firing.firing_id DESC LIMIT $3`;
