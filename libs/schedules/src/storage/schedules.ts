import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThan, type Repository } from 'typeorm';
import { type NamedPage, refuseMoreThan } from '#libs/http-server';
import { Database, inTransaction } from '#libs/postgres';
import type { JsonObject } from '#libs/protocol';
import type { Overlap } from '../firing/firing-plan.js';
import { ScheduleClock } from '../firing/schedule-clock.js';
import type { ScheduleTiming } from '../timing/schedule-timing.js';
import { ScheduleRow } from './schedule-tables.js';

/** Pattern of the names of schedules. It is the pattern of workflow names. */
export const SCHEDULE_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;

/** Maximum number of schedules of a tenant; concurrent requests may exceed it slightly. */
export const MOST_SCHEDULES = 500;

/** Rules of a schedule besides its times. Durations are texts such as `10m`. */
interface ScheduleRules {
  overlap: Overlap;
  /** Time by which a firing may be late and still start a run. */
  catchUp: string;
  /** Maximum delay of a run, so that schedules of the same time do not start together. */
  jitter?: string;
  /** Number of consecutive failed runs that pauses the schedule. */
  pauseAfterFailures?: number;
}

/** Definition of a schedule, as a caller writes it. */
export interface ScheduleDefinition {
  workflow: string;
  inputs: JsonObject;
  timing: ScheduleTiming;
  rules: ScheduleRules;
}

/** Schedule as stored for a tenant. */
export interface Schedule extends ScheduleDefinition {
  tenant: string;
  name: string;
  /** Caller under whose name the runs are started. */
  owner: string;
  scheduleId: string;
  paused: boolean;
  /** Note of the pause; absent if there is none. */
  note?: string;
  /** Time that is due next; absent if the schedule does not fire any more, or is paused. */
  next?: Date;
  createdAt: Date;
  updatedAt: Date;
}

/** Tenant and name that identify a schedule. */
interface ScheduleKey {
  tenant: string;
  name: string;
}

/** Stores the schedules of tenants. Each change also sets the clock of the schedule, in the same transaction. */
@Injectable()
export class Schedules {
  constructor(
    @InjectRepository(ScheduleRow) private readonly rows: Repository<ScheduleRow>,
    private readonly database: Database,
    private readonly clock: ScheduleClock,
  ) {}

  /** Returns one page of a tenant's schedules, sorted by name. */
  async listSchedules(tenant: string, { limit, after }: NamedPage): Promise<Schedule[]> {
    const where = { tenant, name: MoreThan(after) };
    return (await this.rows.find({ where, order: { name: 'ASC' }, take: limit })).map(toSchedule);
  }

  async get({ tenant, name }: ScheduleKey): Promise<Schedule | undefined> {
    const row = await this.rows.findOneBy({ tenant, name });
    return row ? toSchedule(row) : undefined;
  }

  /**
   * Stores a new schedule and sets its clock.
   * @returns `undefined` if the name is taken
   * @throws ProblemError 422 if the tenant has MOST_SCHEDULES schedules
   */
  async createSchedule(key: ScheduleKey, owner: string, definition: ScheduleDefinition): Promise<Schedule | undefined> {
    refuseMoreThan({ count: await this.rows.countBy({ tenant: key.tenant }), most: MOST_SCHEDULES, what: 'schedules' });
    return inTransaction(this.database, async (session) => {
      const { rows } = await session.query<ScheduleRow>(CREATE, [key.tenant, key.name, owner, ...valuesOf(definition)]);
      const [created] = rows;
      return created && this.withClock(created, await this.clock.setClock(session, created.schedule_id));
    });
  }

  /**
   * Replaces a schedule. Its caller becomes the owner of the runs to come. A time that is due already still fires,
   * unless the times have changed.
   * @returns `undefined` if there is no schedule of this name
   */
  async replaceSchedule(
    key: ScheduleKey,
    owner: string,
    definition: ScheduleDefinition,
  ): Promise<Schedule | undefined> {
    return inTransaction(this.database, async (session) => {
      const values = [key.tenant, key.name, owner, ...valuesOf(definition)];
      const [replaced] = (await session.query<ScheduleRow>(REPLACE, values)).rows;
      return replaced && this.withClock(replaced, await this.clock.setClock(session, replaced.schedule_id));
    });
  }

  /** Deletes a schedule with its history. Its runs stay. @returns true if it existed */
  async delete({ tenant, name }: ScheduleKey): Promise<boolean> {
    return (await this.rows.delete({ tenant, name })).affected === 1;
  }

  /** Pauses a schedule; times that come meanwhile are not taken. @returns `undefined` if there is no such schedule */
  async pauseSchedule(key: ScheduleKey, note: string | undefined): Promise<Schedule | undefined> {
    const { rows } = await this.database.pool.query<ScheduleRow>(PAUSE, [key.tenant, key.name, note ?? null]);
    return rows[0] && toSchedule(rows[0]);
  }

  /**
   * Resumes a paused schedule from its next time on. Does nothing to one that is not paused.
   * @returns `undefined` if there is no such schedule
   */
  async resumeSchedule(key: ScheduleKey): Promise<Schedule | undefined> {
    const resumed = await inTransaction(this.database, async (session) => {
      const [row] = (await session.query<ScheduleRow>(RESUME, [key.tenant, key.name])).rows;
      return row && this.withClock(row, await this.clock.setClock(session, row.schedule_id));
    });
    return resumed ?? this.get(key);
  }

  private withClock(row: ScheduleRow, next: Date | undefined): Schedule {
    return toSchedule({ ...row, next_due: next ?? null });
  }
}

function valuesOf({ workflow, inputs, timing, rules }: ScheduleDefinition): unknown[] {
  return [workflow, JSON.stringify(inputs), JSON.stringify(timing), JSON.stringify(rules)];
}

function toSchedule(row: ScheduleRow): Schedule {
  const { tenant, name, owner, workflow, pause_note: note, next_due: next } = row;
  return {
    ...{ tenant, name, owner, workflow },
    inputs: row.inputs as JsonObject,
    timing: row.timing as ScheduleTiming,
    rules: row.rules as ScheduleRules,
    scheduleId: row.schedule_id,
    paused: row.is_paused,
    ...(row.is_paused && note !== null && { note }),
    ...(next !== null && { next }),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

const CREATE = `
  INSERT INTO schedule (tenant, name, owner, workflow, inputs, timing, rules)
  VALUES ($1, $2, $3, $4, $5::json, $6::json, $7::json) ON CONFLICT DO NOTHING RETURNING *`;

const REPLACE = `
  UPDATE schedule SET owner = $3, workflow = $4, inputs = $5::json, timing = $6::json, rules = $7::json,
    next_due = CASE WHEN timing::text = $6::json::text THEN next_due END, updated_at = clock_timestamp()
  WHERE tenant = $1 AND name = $2 RETURNING *`;

const PAUSE = `
  UPDATE schedule SET is_paused = true, pause_note = $3, next_due = NULL WHERE tenant = $1 AND name = $2 RETURNING *`;

const RESUME = `
  UPDATE schedule SET is_paused = false, pause_note = NULL, next_due = NULL,
    counted_after = coalesce(
      (SELECT max(firing_id) FROM schedule_firing AS firing WHERE firing.schedule_id = schedule.schedule_id), 0)
  WHERE tenant = $1 AND name = $2 AND is_paused RETURNING *`;
