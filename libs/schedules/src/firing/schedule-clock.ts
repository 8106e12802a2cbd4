import { Injectable, Logger } from '@nestjs/common';
import type { ClientBase } from 'pg';
import { Jobs, scheduleUpkeep } from '#libs/job-queue';
import { ENQUEUE, enqueueValues, type Job } from '#libs/jobs';
import { parseDuration } from '#libs/expressions';
import { Database, inTransaction } from '#libs/postgres';
import { ENDED_TASK, newTaskId, TASK_OUTCOME } from '#libs/tasks';
import { FiringTimes, type ScheduleTiming } from '../timing/schedule-timing.js';
import { type FiringDecision, jitterOf, MOST_OPEN, MOST_QUEUED, type Overlap, planFirings } from './firing-plan.js';

type FiringSession = Pick<ClientBase, 'query'>;

/** Name of the job that decides about the times of a schedule that have come. */
const FIRE = 'schedules.fire';
/** Name of the job that starts the run of a firing. */
export const START = 'schedules.start';
/** Name of the job that starts the next queued run of a schedule. */
const QUEUE = 'schedules.queue';
const SWEEP = { name: 'schedules.sweep', match: '* * * * *' };
/** Number of attempts at the start of a run; each death of a replica counts as one. */
const START_ATTEMPTS = 25;
/** Milliseconds until the queue of a schedule is looked at again: at first, and at most. */
const [FIRST_LOOK_MS, LAST_LOOK_MS] = [1_000, 30_000];
/** Milliseconds until a job starts a requested run that the request itself has not started. */
const REQUEST_MS = 5_000;
/** Number of ended firings that are kept of each schedule. */
const KEPT_FIRINGS = 1_000;

/** Row of a schedule that this service has locked, with the time of the database. */
interface LockedSchedule {
  schedule_id: string;
  tenant: string;
  owner: string;
  timing: ScheduleTiming;
  rules: { overlap: Overlap; catchUp: string; jitter?: string; pauseAfterFailures?: number };
  is_paused: boolean;
  next_due: Date | null;
  now: Date;
}

/** Firing of a schedule that is not stored yet. */
export interface NewFiring extends Pick<FiringDecision, 'state' | 'reason'> {
  /** The present moment if absent. */
  due?: Date;
  cause: 'time' | 'backfill' | 'request';
}

/**
 * Decides, once in the cluster, about each time of each schedule. One transaction under the lock of the schedule's row
 * writes the decisions, the next time, and the jobs for both; so a process may be killed anywhere. All times are those
 * of the database's clock: the clocks of replicas do not matter.
 */
@Injectable()
export class ScheduleClock {
  private readonly logger = new Logger(ScheduleClock.name);

  constructor(
    jobs: Jobs,
    private readonly database: Database,
  ) {
    const read = (payload: unknown): SchedulePayload => payload as SchedulePayload;
    jobs.registerHandler(FIRE, { read, run: ({ scheduleId }) => this.fireSchedule(scheduleId) });
    jobs.registerHandler(QUEUE, { read, run: (payload) => this.startQueued(payload) });
    scheduleUpkeep(jobs, SWEEP, () => this.sweepLost());
  }

  /**
   * Sets the clock of a schedule after a change of its row: computes its next time if there is none, and enqueues the
   * job for it. @returns the next time
   */
  async setClock(session: FiringSession, scheduleId: string): Promise<Date | undefined> {
    const schedule = await this.lockSchedule(session, scheduleId);
    if (!schedule || schedule.is_paused) return undefined;
    const next = schedule.next_due ?? new FiringTimes(schedule.timing).nextAfter(schedule.now);
    await this.writeNext(session, schedule, next);
    await this.enqueue(session, [queueJob(scheduleId, FIRST_LOOK_MS, schedule.now)]);
    return next;
  }

  /**
   * Writes firings that a caller requested.
   * @returns the ids of their runs; `undefined` if too many runs of the schedule are open or queued
   */
  async addFirings(
    session: FiringSession,
    scheduleId: string,
    firings: readonly NewFiring[],
  ): Promise<FiringIds[] | undefined> {
    const schedule = await this.lockSchedule(session, scheduleId);
    if (!schedule) return [];
    const { open, queued } = await this.closeEnded(session, scheduleId);
    const more = firings.filter(({ state }) => state === 'queued').length;
    if (queued + more > MOST_QUEUED || open + firings.length - more > MOST_OPEN) return undefined;
    const written = await this.writeFirings(session, schedule, firings);
    await session.query(FORGET, [scheduleId]);
    return written;
  }

  /** Decides about the times of a schedule that have come. Does nothing for a schedule that was deleted or paused. */
  private async fireSchedule(scheduleId: string): Promise<void> {
    await inTransaction(this.database, async (session) => {
      const schedule = await this.lockSchedule(session, scheduleId);
      if (!schedule || schedule.is_paused || schedule.next_due === null) return;
      if (schedule.next_due > schedule.now) return this.writeNext(session, schedule, schedule.next_due);
      const counts = await this.closeEnded(session, scheduleId);
      if (await this.pauseAfterFailures(session, schedule)) return;
      const { rules } = schedule;
      const state = { ...counts, times: new FiringTimes(schedule.timing), next: schedule.next_due };
      const catchUpMs = parseDuration(rules.catchUp) ?? 0;
      const { decisions, next } = planFirings({ ...state, overlap: rules.overlap, catchUpMs }, schedule.now);
      await this.writeFirings(
        session,
        schedule,
        decisions.map((it) => ({ ...it, cause: 'time' as const })),
      );
      await this.writeNext(session, schedule, next);
      await session.query(FORGET, [scheduleId]);
    });
  }

  /** Starts the oldest queued run of a schedule if no other run of it is open, and looks again later. */
  private async startQueued({ scheduleId, pause = FIRST_LOOK_MS }: SchedulePayload): Promise<void> {
    await inTransaction(this.database, async (session) => {
      const schedule = await this.lockSchedule(session, scheduleId);
      if (!schedule || schedule.is_paused) return;
      const { open, queued } = await this.closeEnded(session, scheduleId);
      if (queued === 0) return;
      let left = queued;
      if (open === 0) {
        const { rows } = await session.query<{ firing_id: string }>(UNQUEUE, [scheduleId]);
        await this.enqueue(
          session,
          rows.map((row) => startJob(row.firing_id, schedule, undefined)),
        );
        left -= rows.length;
      }
      if (left > 0)
        await this.enqueue(session, [queueJob(scheduleId, open === 0 ? FIRST_LOOK_MS : pause, schedule.now)]);
    });
  }

  /** Pauses a schedule whose last runs have failed. @returns true if it did */
  private async pauseAfterFailures(session: FiringSession, { schedule_id, rules }: LockedSchedule): Promise<boolean> {
    const { pauseAfterFailures: most } = rules;
    if (most === undefined) return false;
    const note = `Paused by the service after ${most} failed ${most === 1 ? 'run' : 'runs in a row'}.`;
    return (await session.query(PAUSE_FAILED, [schedule_id, most, note])).rowCount === 1;
  }

  private async lockSchedule(session: FiringSession, scheduleId: string): Promise<LockedSchedule | undefined> {
    return (await session.query<LockedSchedule>(LOCK, [scheduleId])).rows[0];
  }

  /** Notes which runs of a schedule have ended, and counts the others. */
  private async closeEnded(session: FiringSession, scheduleId: string): Promise<{ open: number; queued: number }> {
    await session.query(CLOSE, [scheduleId]);
    const { rows } = await session.query<{ open: number; queued: number }>(COUNT, [scheduleId]);
    return rows[0] ?? { open: 0, queued: 0 };
  }

  private async writeNext(session: FiringSession, schedule: LockedSchedule, next: Date | undefined): Promise<void> {
    const { schedule_id: scheduleId } = schedule;
    await session.query(SET_NEXT, [scheduleId, next ?? null]);
    if (next) await this.enqueue(session, [fireJob(scheduleId, next, schedule)]);
  }

  private async writeFirings(
    session: FiringSession,
    schedule: LockedSchedule,
    firings: readonly NewFiring[],
  ): Promise<FiringIds[]> {
    const starts = (state: string): boolean => state === 'starting' || state === 'queued';
    const { rows } = await session.query<FiringIds & { due: Date; cause: string; state: string }>(WRITE, [
      schedule.schedule_id,
      firings.map(({ due }) => due ?? schedule.now),
      firings.map(({ cause }) => cause),
      firings.map(({ state }) => state),
      firings.map(({ state }) => (starts(state) ? newTaskId() : null)),
      firings.map(({ reason }) => reason ?? null),
    ]);
    const jitterMs = parseDuration(schedule.rules.jitter) ?? 0;
    const starting = rows.filter(({ state }) => state === 'starting');
    await this.enqueue(
      session,
      starting.map(({ firing_id, due, cause }) => {
        // The request itself starts the run; the job only helps if that fails.
        const delay = cause === 'request' ? REQUEST_MS : jitterOf(schedule.schedule_id, due, jitterMs);
        return startJob(firing_id, schedule, delay === 0 ? undefined : new Date(due.getTime() + delay));
      }),
    );
    if (rows.some(({ state }) => state === 'queued'))
      await this.enqueue(session, [queueJob(schedule.schedule_id, FIRST_LOOK_MS, schedule.now)]);
    return rows;
  }

  /** Enqueues jobs for times of the database's clock, which need no conversion. */
  private async enqueue(session: FiringSession, jobs: readonly Job[]): Promise<void> {
    if (jobs.length > 0) await session.query(ENQUEUE, enqueueValues(jobs));
  }

  /**
   * Enqueues again the jobs that were lost, for example because all their attempts ended with a dead replica. Also notes
   * the ends of runs, before their Tasks may be purged.
   */
  private async sweepLost(): Promise<void> {
    const { rows } = await this.database.pool.query<{ schedule_id: string }>(LOST_CLOCKS);
    for (const { schedule_id: scheduleId } of rows) {
      try {
        await inTransaction(this.database, (session) => this.setClock(session, scheduleId));
      } catch (error) {
        this.logger.warn({ err: error, scheduleId }, 'The clock of a schedule could not be set');
      }
    }
    await this.database.pool.query(CLOSE_ANY);
    await inTransaction(this.database, async (session) => {
      const lost = await session.query<{ firing_id: string; tenant: string; owner: string }>(LOST_STARTS);
      await this.enqueue(
        session,
        lost.rows.map((row) => startJob(row.firing_id, row, undefined)),
      );
    });
  }
}

interface SchedulePayload {
  scheduleId: string;
  /** Milliseconds since the last look at the queue; absent at the first. */
  pause?: number;
}

/** Ids of a written firing and of its run. */
export interface FiringIds {
  firing_id: string;
  run_id: string | null;
}

function fireJob(scheduleId: string, runAt: Date, caller: { tenant: string; owner: string }): Job {
  return { name: FIRE, payload: { scheduleId }, key: `${FIRE}/${scheduleId}`, runAt, caller };
}

/** Returns the job that starts the run of a firing. @param runAt time of the database's clock; now if absent */
export function startJob(firingId: string, caller: { tenant: string; owner: string }, runAt: Date | undefined): Job {
  const key = `${START}/${firingId}`;
  return { name: START, payload: { firingId }, key, maxAttempts: START_ATTEMPTS, caller, ...(runAt && { runAt }) };
}

function queueJob(scheduleId: string, pause: number, now: Date): Job {
  const payload = { scheduleId, pause: Math.min(pause * 2, LAST_LOOK_MS) };
  return { name: QUEUE, payload, key: `${QUEUE}/${scheduleId}`, runAt: new Date(now.getTime() + pause) };
}

const LOCK = `
  SELECT schedule_id, tenant, owner, timing, rules, is_paused, next_due, clock_timestamp() AS now
  FROM schedule WHERE schedule_id = $1 FOR UPDATE`;

// A run whose Task was purged has ended, with an outcome that is not known any more.
const CLOSE = `
  WITH ended AS (
    SELECT firing.firing_id, ${TASK_OUTCOME} AS outcome
    FROM schedule_firing AS firing LEFT JOIN task ON task.task_id = firing.run_id
    WHERE firing.schedule_id = $1 AND firing.is_open AND firing.state = 'started'
      AND (task.task_id IS NULL OR ${ENDED_TASK})
  )
  UPDATE schedule_firing AS firing SET is_open = false, outcome = ended.outcome
  FROM ended WHERE firing.firing_id = ended.firing_id`;

const CLOSE_ANY = `
  WITH ended AS (
    SELECT firing.firing_id, ${TASK_OUTCOME} AS outcome
    FROM schedule_firing AS firing JOIN task ON task.task_id = firing.run_id
    WHERE firing.is_open AND firing.state = 'started' AND ${ENDED_TASK} LIMIT 10000
  )
  UPDATE schedule_firing AS firing SET is_open = false, outcome = ended.outcome
  FROM ended WHERE firing.firing_id = ended.firing_id AND firing.is_open`;

const COUNT = `
  SELECT count(*) FILTER (WHERE state <> 'queued')::int AS open, count(*) FILTER (WHERE state = 'queued')::int AS queued
  FROM schedule_firing WHERE schedule_id = $1 AND is_open`;

const SET_NEXT = 'UPDATE schedule SET next_due = $2 WHERE schedule_id = $1';

const WRITE = `
  INSERT INTO schedule_firing (schedule_id, due, cause, state, is_open, run_id, reason)
  SELECT $1, due, cause, state, state IN ('starting', 'queued'), run_id, reason
  FROM unnest($2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::text[])
    WITH ORDINALITY AS firing (due, cause, state, run_id, reason, place)
  ORDER BY place
  ON CONFLICT DO NOTHING RETURNING firing_id, run_id, due, cause, state`;

const UNQUEUE = `
  UPDATE schedule_firing SET state = 'starting' WHERE firing_id = (
    SELECT firing_id FROM schedule_firing
    WHERE schedule_id = $1 AND is_open AND state = 'queued' ORDER BY due, firing_id LIMIT 1)
  RETURNING firing_id`;

const PAUSE_FAILED = `
  UPDATE schedule SET is_paused = true, pause_note = $3, next_due = NULL
  WHERE schedule_id = $1 AND $2 = (
    SELECT count(*) FILTER (WHERE outcome = 'failed') FROM (
      SELECT outcome FROM schedule_firing AS firing
      WHERE firing.schedule_id = $1 AND firing_id > counted_after AND outcome IS NOT NULL
      ORDER BY firing_id DESC LIMIT $2) AS newest)`;

const FORGET = `
  DELETE FROM schedule_firing WHERE schedule_id = $1 AND NOT is_open AND firing_id < (
    SELECT firing_id FROM schedule_firing WHERE schedule_id = $1
    ORDER BY firing_id DESC OFFSET ${KEPT_FIRINGS - 1} LIMIT 1)`;

const hasJob = (name: string, id: string): string =>
  `EXISTS (SELECT FROM graphile_worker.jobs AS job
    WHERE job.key = '${name}/' || ${id}::text AND job.attempts < job.max_attempts)`;

const LOST_CLOCKS = `
  SELECT schedule_id FROM schedule
  WHERE NOT is_paused AND next_due < now() - interval '30 seconds' AND NOT ${hasJob(FIRE, 'schedule_id')}
  UNION
  SELECT schedule_id FROM schedule_firing JOIN schedule USING (schedule_id)
  WHERE NOT is_paused AND is_open AND state = 'queued' AND decided_at < now() - interval '2 minutes' AND NOT ${hasJob(QUEUE, 'schedule_id')}
  LIMIT 1000`;

const LOST_STARTS = `
  SELECT firing.firing_id, schedule.tenant, schedule.owner
  FROM schedule_firing AS firing JOIN schedule USING (schedule_id)
  WHERE firing.is_open AND firing.state = 'starting' AND firing.decided_at < now() - interval '2 minutes'
    AND NOT ${hasJob(START, 'firing.firing_id')}
  LIMIT 1000`;
