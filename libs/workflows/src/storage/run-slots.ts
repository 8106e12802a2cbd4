import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Jobs, scheduleUpkeep } from '#libs/job-queue';
import {
  type AppliedLimit,
  KnownLimits,
  type LimitedWork,
  LimitGates,
  type LimitRequest,
  type SlotOutcome,
  type SlotSeeker,
} from '#libs/limits';
import { Database } from '#libs/postgres';
import { textStart } from '#libs/protocol';
import { ENDED_TASK } from '#libs/tasks';
import type { SlotRequest } from '#libs/workflow-engine';
import { GateEntries } from './gate-entries.js';
import { GatePacer } from './gate-pacer.js';
import { RunDeck } from './run-deck.js';

/** Name of the job that passes the slots of ended runs on, where the commit that ended a run could not. */
const FREE_SLOT = 'runs.free-slot';
/** Cron entry of the sweep that finds slots which no job has passed on. */
const SWEEP = { name: 'runs.check-slots', match: '* * * * *' };
/** Maximum number of runs that wait for the slots of one gate, and of one tenant. */
const MOST_WAITING = 10_000;
const MOST_WAITING_OF_TENANT = 100_000;
/** Milliseconds for which the number of waiting runs of a tenant is kept. */
const COUNT_MS = 1_000;
/** Maximum number of tenants whose numbers are kept. */
const MOST_COUNTS = 1_000;
/** Maximum number of gates that one sweep handles. */
const MOST_SWEPT = 1_000;
/** Number of slots of a limit without `concurrency`. */
const NO_CONCURRENCY = 2_147_483_647;
/** Maximum milliseconds for which an agent can close a gate. */
const LONGEST_PAUSE_MS = 3_600_000;
/** Maximum number of characters of a key that are stored for readers. */
const LONGEST_KEY = 200;
/** Number of attempts to change a gate while other transactions hold rows, and milliseconds between two of them. */
const TRIES = 20;
const RETRY_MS = 50;

/** Gate whose free slots are passed on. `keep`: number of its newest runs; the cancel of all others is requested. */
interface GateChange {
  gate?: string;
  keep?: number;
}

/**
 * Slots of the runs of workflows with `concurrency`, which all replicas share.
 * - A gate is a tenant, a workflow and a value of `concurrency.key`. At most `limit` runs of a gate have slots.
 * - A run keeps its slot until it ends, also while it waits for an answer, and whichever replica executes it.
 * - Free slots go to the runs that have waited longest. The limit is that of the run that came last.
 * - The commit that ends a run passes its slot on. A slot counts only while its run has not ended.
 * - A limit (libs/limits) has gates too: one, or one for each value of its key. Their slots are those of the limit.
 * - Every change of a gate holds its advisory lock. Its holder waits for no row of another Task, so that no deadlock
 *   with a batch of the journal is possible (see `AdmitRunsAtOnce`).
 */
@Injectable()
export class PostgresRunSlots extends LimitGates {
  private readonly counts = new Map<string, { waiting: Promise<number>; until: number }>();
  private readonly pacer: GatePacer;
  private readonly entries: GateEntries;

  constructor(
    private readonly database: Database,
    private readonly deck: RunDeck,
    private readonly known: KnownLimits,
  ) {
    super();
    this.pacer = new GatePacer(database);
    this.entries = new GateEntries(database);
  }

  /** Returns the limits of a run; see `RunServices.slots`. */
  findLimits({ call }: Pick<SlotSeeker, 'call'>, workflow: string, signal: AbortSignal): Promise<AppliedLimit[]> {
    const { tenant, owner } = call.scope;
    return this.findLimitsOf({ kind: 'workflows', name: workflow, tenant, owner }, signal);
  }

  override findLimitsOf(work: LimitedWork, signal: AbortSignal): Promise<AppliedLimit[]> {
    return this.known.findLimits(work, signal);
  }

  override async closeGate({ gate }: AppliedLimit, pauseMs: number): Promise<void> {
    await this.database.pool.query(CLOSE_GATE, [gate, Math.min(pauseMs, LONGEST_PAUSE_MS)]);
    await this.database.pool.query('SELECT pace_gate($1)', [gate]);
  }

  /** Requests a slot for a run; see `RunServices.slots`. */
  override async requestSlot(run: SlotSeeker, request: SlotRequest | LimitRequest): Promise<SlotOutcome> {
    const gate = 'limit' in request ? request.limit.gate : gateOf(run, request);
    const most = 'limit' in request ? MOST_WAITING_OF_TENANT : MOST_WAITING;
    const isCrowded = (await this.countWaiting(run.call.scope.tenant)) >= MOST_WAITING_OF_TENANT;
    const describe = (): object =>
      this.describe(run, request, { most: isCrowded ? 0 : most, mayStay: this.deck.takePlace(run.taskId) });
    let outcome: SlotOutcome | undefined;
    try {
      outcome = await this.entries.enterGate(gate, { seeker: run, describe });
      if (outcome === 'next' && 'limit' in request && request.limit.isPaced) this.pacer.followGate(gate, run.taskId);
      return outcome;
    } finally {
      if (outcome !== 'next') this.deck.leavePlace(run.taskId);
    }
  }

  /** Waits until a run that is the next of its gate may have a slot; see `RunServices.slots`. */
  override async waitForSlot(
    { taskId }: Pick<SlotSeeker, 'taskId'>,
    until: Date | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    await this.deck.waitForSlot(taskId, until, signal);
    this.pacer.leaveGates(taskId);
  }

  /**
   * Passes on the slots of ended runs of a gate.
   * @throws Error if other transactions hold its rows all the time
   */
  async changeGate({ gate, keep }: GateChange): Promise<void> {
    if (gate === undefined) return;
    await this.changeUntilDone('SELECT pass_on_slots($1, false) AS is_done', [gate]);
    if (keep !== undefined) await this.changeUntilDone('SELECT cancel_oldest_runs($1, $2) AS is_done', [gate, keep]);
  }

  /** Passes on all free slots that runs wait for although no job is left that would pass them on. */
  async sweepSlots(signal: AbortSignal): Promise<void> {
    const { rows } = await this.database.pool.query<{ gate: string }>(STUCK_GATES, [MOST_SWEPT]);
    for (const { gate } of rows)
      if (!signal.aborted) await this.changeUntilDone('SELECT pass_on_slots($1, true) AS is_done', [gate]);
    if (!signal.aborted) await this.database.pool.query(DELETE_UNUSED_GATES, [MOST_SWEPT]);
  }

  private describe(
    { call }: SlotSeeker,
    request: SlotRequest | LimitRequest,
    bounds: { most: number; mayStay: boolean },
  ): object {
    return {
      tenant: call.scope.tenant,
      ...('limit' in request ? limitMembers(request) : concurrencyMembers(request)),
      until: request.until && this.database.timeThere(request.until),
      ...bounds,
    };
  }

  private async changeUntilDone(text: string, values: readonly unknown[]): Promise<void> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const { rows } = await this.database.pool.query<{ is_done: boolean }>(text, [...values]);
      if (rows[0]?.is_done) return;
      await delay(RETRY_MS);
    }
    throw new Error('Other transactions hold the rows of runs that wait for slots');
  }

  /** Returns the number of waiting runs of a tenant, at most one second old. */
  private async countWaiting(tenant: string): Promise<number> {
    const now = performance.now();
    const known = this.counts.get(tenant);
    if (known && known.until > now) return known.waiting;
    if (this.counts.size >= MOST_COUNTS) this.counts.clear();
    const waiting = this.database.pool
      .query<{ waiting: number }>(COUNT_WAITING, [tenant, MOST_WAITING_OF_TENANT])
      .then(({ rows }) => rows[0]?.waiting ?? 0);
    this.counts.set(tenant, { waiting, until: now + COUNT_MS });
    waiting.catch(() => this.counts.delete(tenant));
    return waiting;
  }
}

/** Job and sweep that pass on the slots of ended runs. */
@Injectable()
export class RunSlotJobs {
  constructor(jobs: Jobs, slots: PostgresRunSlots) {
    jobs.registerHandler(FREE_SLOT, {
      read: (payload) => payload as GateChange,
      run: (change) => slots.changeGate(change),
    });
    scheduleUpkeep(jobs, SWEEP, (signal) => slots.sweepSlots(signal));
  }
}

function gateOf({ call }: SlotSeeker, { workflow, key }: SlotRequest): string {
  return createHash('sha256')
    .update(JSON.stringify([call.scope.tenant, workflow, key]))
    .digest('hex');
}

function concurrencyMembers({ key, concurrency: { limit, onFull } }: SlotRequest) {
  return { key: readableKey(key), limit, onFull };
}

function limitMembers({ limit: { tenant, name, value, concurrency }, isUnderWay, isUnsentTurn }: LimitRequest) {
  const slots = concurrency ?? NO_CONCURRENCY;
  return { key: readableKey(value), limit: slots, rule: { tenant, name }, isUnderWay, isUnsentTurn };
}

/** Returns the beginning of a key as PostgreSQL stores it: without \u0000 and unpaired surrogates. */
function readableKey(key: string): string {
  return textStart(key, LONGEST_KEY).replaceAll('\0', '').toWellFormed();
}

const CLOSE_GATE = `
  UPDATE flow_gate SET closed_until = greatest(closed_until, clock_timestamp() + $2::float8 * interval '1 millisecond')
  WHERE gate = $1`;
const COUNT_WAITING = `
  SELECT count(*)::int AS waiting FROM (SELECT FROM run_slot WHERE tenant = $1 AND NOT is_held LIMIT $2) AS few`;

/** Statement that deletes gates of limits which nothing has used for an hour, and which limit nothing any more. */
const DELETE_UNUSED_GATES = `
  DELETE FROM flow_gate WHERE used_at < now() - interval '1 hour' AND tat < now()
    AND coalesce(closed_until < now(), true) AND gate IN (
      SELECT gate FROM flow_gate WHERE used_at < now() - interval '1 hour'
        AND NOT EXISTS (SELECT FROM run_slot WHERE run_slot.gate = flow_gate.gate) LIMIT $1)`;

/** Query for gates with a run that has ended, or with waiting runs and a slot that is free by the newest limit. */
const STUCK_GATES = `
  SELECT gate FROM run_slot JOIN task USING (task_id)
  GROUP BY gate
  HAVING bool_or(${ENDED_TASK})
    OR bool_or(NOT is_held) AND (count(*) FILTER (WHERE is_held) < (array_agg(most ORDER BY seq DESC))[1]
      OR EXISTS (SELECT FROM flow_gate WHERE flow_gate.gate = run_slot.gate))
  LIMIT $1`;
