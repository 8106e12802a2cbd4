import type { AppliedLimit, LimitedWork } from './limit.js';

/** Work that needs a slot of a limit: a run, or a turn at a registered agent. */
export interface LimitRequest {
  limit: AppliedLimit;
  /** Deadline of the work, at which it is woken even without a slot. */
  until?: Date;
  /** True if the work has begun already: it takes a slot without waiting. */
  isUnderWay?: boolean;
  /** True for a turn whose Message has not been sent: if it must wait, it is stored as unsent in the same transaction. */
  isUnsentTurn?: boolean;
}

/**
 * Outcome of a request for a slot.
 * - `held`: the work has a slot, and may begin.
 * - `next`: the work gets one of the next free slots, and keeps its claim meanwhile (`waitForSlot`).
 * - `parked`: the work waits for a slot, and the claim of its Task is released.
 * - `full`: no slot is free, and the run does not wait (`onFull: skip`).
 * - `crowded`: too much work waits already.
 * - `lost`: this execution no longer has the claim (right to write the Task).
 */
export type SlotOutcome = 'held' | 'next' | 'parked' | 'full' | 'crowded' | 'lost';

/** Task that needs a slot, with the token of its claim, and the scope of its caller. */
export interface SlotSeeker {
  readonly taskId: string;
  readonly token: string;
  readonly call: { readonly scope: { readonly tenant: string; readonly owner: string } };
}

/** Gates of limits. At each gate, work takes slots, waits in order, and passes its slot on when it ends. */
export abstract class LimitGates {
  /** Returns the limits of a piece of work, in the order in which it must pass them. Waits while the database is away. */
  abstract findLimitsOf(work: LimitedWork, signal: AbortSignal): Promise<AppliedLimit[]>;

  /** Requests a slot for work whose Task is durable. It may be repeated: a Task has at most one slot of a gate. */
  abstract requestSlot(seeker: SlotSeeker, request: LimitRequest): Promise<SlotOutcome>;

  /** Waits until work whose request had the outcome `next` may have a slot, or its deadline or the signal. */
  abstract waitForSlot(seeker: Pick<SlotSeeker, 'taskId'>, until: Date | undefined, signal: AbortSignal): Promise<void>;

  /** Lets nothing more through the gate of a limit for a while, since an agent has asked for a pause. */
  abstract closeGate(limit: AppliedLimit, pauseMs: number): Promise<void>;
}
