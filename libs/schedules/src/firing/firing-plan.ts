import type { FiringTimes } from '../timing/schedule-timing.js';

/**
 * Rules for a time that comes while an earlier run of the schedule has not ended:
 * - `skip`: nothing is started.
 * - `queue-one`: one run is started when the earlier run has ended; further times are skipped.
 * - `queue`: each time gets its run, one after another.
 * - `cancel`: the earlier run is canceled, then the new run is started.
 * - `allow`: the new run is started beside the earlier one.
 */
export const OVERLAPS = ['skip', 'queue-one', 'queue', 'cancel', 'allow'] as const;
export type Overlap = (typeof OVERLAPS)[number];

/** Maximum number of times that one step of a schedule decides about; the next step decides about further times. */
export const MOST_TIMES = 100;
/** Maximum number of queued runs of a schedule. */
export const MOST_QUEUED = 1_000;

/** Maximum number of runs of a schedule that have not ended. */
export const MOST_OPEN = 1_000;

/** Decision about one time of a schedule. */
export interface FiringDecision {
  /** The time; for `missed` the last of them. */
  due: Date;
  state: 'starting' | 'queued' | 'skipped' | 'missed';
  /** Sentence why nothing was started; absent for `starting` and `queued`. */
  reason?: string;
}

/** State of a schedule that a step starts from. */
export interface PlanState {
  times: FiringTimes;
  overlap: Overlap;
  /** Maximum delay of a time that still starts a run, in milliseconds. */
  catchUpMs: number;
  /** Time that is due next, after the decided times. */
  next: Date;
  /** Number of firings whose runs have not ended, without the queued ones. */
  open: number;
  queued: number;
}

/** Decisions about the times that have come, and the time that is due after them. */
export interface FiringPlan {
  decisions: FiringDecision[];
  /** Time of the next firing; `undefined` if the schedule does not fire any more. */
  next: Date | undefined;
}

/**
 * Decides about all times of a schedule up to `now`, a moment of the database's clock. Times that are later than the
 * catch-up window allows count as missed, and get one decision together.
 */
export function planFirings(state: PlanState, now: Date): FiringPlan {
  const { times } = state;
  const decisions: FiringDecision[] = [];
  let next: Date | undefined = state.next;
  const oldest = new Date(now.getTime() - state.catchUpMs);
  if (next < oldest) {
    const { missed, following } = passMissed(times, next, oldest);
    decisions.push(missed);
    next = following;
  }
  let { open, queued } = state;
  for (; next && next <= now && decisions.length < MOST_TIMES; next = times.nextAfter(next)) {
    const decision = decideOverlap(next, state.overlap, { open, queued });
    if (decision.state === 'starting') open += 1;
    if (decision.state === 'queued') queued += 1;
    decisions.push(decision);
  }
  return { decisions, next };
}

/** Maximum count of missed times; more are reported as "more than" this number. */
const MOST_COUNTED = 1_000;

/** Passes all times before `oldest`, with one decision for all of them. */
function passMissed(
  times: FiringTimes,
  first: Date,
  oldest: Date,
): { missed: FiringDecision; following: Date | undefined } {
  // A time at `oldest` itself is still taken.
  const last = new Date(oldest.getTime() - 1);
  const after = new Date(first.getTime() - 1);
  const counted = times.listBetween(after, last, MOST_COUNTED);
  const due = counted.at(-1) ?? first;
  const count = counted.length < MOST_COUNTED ? String(counted.length) : `more than ${MOST_COUNTED}`;
  const verb = counted.length === 1 ? 'time was' : 'times were';
  const reason = `${count} ${verb} missed, from ${first.toISOString()} on, because the catch-up window was over.`;
  return { missed: { due, state: 'missed', reason }, following: times.nextAfter(last) };
}

function decideOverlap(
  due: Date,
  overlap: Overlap,
  { open, queued }: { open: number; queued: number },
): FiringDecision {
  if (open >= MOST_OPEN) return { due, state: 'skipped', reason: `${MOST_OPEN} runs of the schedule had not ended.` };
  const isFree = open + queued === 0 || overlap === 'allow' || overlap === 'cancel';
  if (isFree) return { due, state: 'starting' };
  if (overlap === 'skip') return { due, state: 'skipped', reason: 'An earlier run of the schedule had not ended.' };
  if (overlap === 'queue-one' && queued > 0)
    return { due, state: 'skipped', reason: 'Another run of the schedule was waiting already.' };
  if (queued >= MOST_QUEUED)
    return { due, state: 'skipped', reason: `${MOST_QUEUED} runs of the schedule were waiting already.` };
  return { due, state: 'queued' };
}

/**
 * Returns the delay in milliseconds, from 0 to `jitterMs`, of the run for a time. The same time of the same schedule
 * has the same delay in every replica.
 */
export function jitterOf(scheduleId: string, due: Date, jitterMs: number): number {
  if (jitterMs === 0) return 0;
  // FNV-1a
  let hash = 0x811c9dc5;
  for (const char of `${scheduleId}/${due.getTime()}`) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193) >>> 0;
  return Math.floor((hash / 2 ** 32) * jitterMs);
}
