import type { ReplicaLife } from '#libs/postgres';
import { Backoff } from '#libs/service';
import type { RenewedClaims, TaskClaim, TaskStore } from '#libs/tasks';
import type { ExecutionRegistry } from './execution-registry.js';

/** Factor for the pause after a poll: the pause is this many times as long as the poll took. */
const REST = 20;
/** Maximum milliseconds of the pause after a poll. */
const LONGEST_REST_MS = 30_000;

/**
 * Schedules the polls of a repeated query: the pause after a poll is twenty times as long as the poll, at least
 * `leastPauseMs` and at most LONGEST_REST_MS. So polls that last less than 1.5 seconds take at most a twentieth of the
 * time, even while the query is slow. It is slow while a transaction holds an old snapshot of the database: PostgreSQL
 * then keeps dead rows, which the query scans.
 */
export class PacedLook {
  private dueAt = Number.NEGATIVE_INFINITY;

  /** @param leastPauseMs minimum milliseconds between two polls; 0: a poll is due at any time */
  constructor(private readonly leastPauseMs: number) {}

  get isDue(): boolean {
    return performance.now() >= this.dueAt;
  }

  /** Runs the query, and plans the next poll. If the query fails, the next poll is due immediately. */
  async runLook<T>(look: () => Promise<T>): Promise<T> {
    const began = performance.now();
    const seen = await look();
    const ended = performance.now();
    const rest = Math.min(REST * (ended - began), LONGEST_REST_MS);
    if (this.leastPauseMs > 0) this.dueAt = ended + Math.max(this.leastPauseMs, rest);
    return seen;
  }
}

const LONGEST_PASSING_PAUSE_MS = 60_000;
/** Longest pause, in milliseconds, after an error that does not pass by itself (a fault in the log). */
const LONGEST_LASTING_PAUSE_MS = 60 * 60_000;

/**
 * Returns the milliseconds before the next attempt to adopt (take over) a Task, as backoff: doubled by each failure, up
 * to a limit.
 * @param failures number of failed attempts so far
 * @param firstMs pause after the first failure
 * @param lasting true if the error does not pass by itself; the limit is then higher
 */
function takeUpPause(failures: number, firstMs: number, lasting: boolean): number {
  return new Backoff(firstMs, lasting ? LONGEST_LASTING_PAUSE_MS : LONGEST_PASSING_PAUSE_MS).pauseAfter(failures - 1);
}

/**
 * Injection token: milliseconds between two comparisons of this replica's claims (rights to write Tasks) with its
 * executions, 5,000 by default.
 */
export const CLAIM_LOOK_MS = Symbol('CLAIM_LOOK_MS');

const FIRST_PAUSE_MS = 1_000;
/** Maximum number of claims (rights to write Tasks) to renew in one statement. */
const RENEWED_AT_ONCE = 500;
const NONE: RenewedClaims = { renewed: [], lost: [] };

/** Claim (right to write a Task) that this replica has although it does not execute the Task. */
export interface IdleClaim extends TaskClaim {
  /** Number of failed attempts to adopt (take over) the Task. */
  failures: number;
}

/**
 * Compares the claims of this replica (its rights to write Tasks) with its executions.
 * - A claim without an execution is yielded, so that its Task is adopted. Such a claim remains if a statement claimed a
 *   Task, and then failed or its answer was lost.
 * - An execution without a claim ends immediately, even if it writes nothing. That happens if this process was
 *   suspended, and another replica adopted the Task.
 */
export class ClaimReconciler {
  /**
   * Tokens of claims (rights to write Tasks) that had no execution at the last comparison. Their executions may be
   * about to begin, so they are reported only if the next comparison finds them again.
   */
  private idle = new Set<string>();
  private readonly troubled = new Map<string, IdleClaim & { dueAt: number }>();
  private readonly paced: PacedLook;
  /**
   * Current maximum number of claims (rights to write Tasks) per statement. It shrinks after a failure, to isolate the
   * claim that causes the failure.
   */
  private atOnce = RENEWED_AT_ONCE;

  constructor(
    private readonly store: TaskStore,
    private readonly registry: ExecutionRegistry,
    private readonly replica: ReplicaLife,
    private readonly lookMs: number,
  ) {
    this.paced = new PacedLook(lookMs);
  }

  /**
   * Yields the claims (rights to write Tasks) whose Tasks must be adopted now, in chunks. Each claim gets a new token:
   * work that began with the old token can no longer write. Claims that are due for a retry are yielded even if the
   * query for claims without an execution fails.
   */
  async *renewDueClaims(): AsyncGenerator<IdleClaim[], void, undefined> {
    try {
      if (this.paced.isDue) for (const claim of await this.findIdleClaims()) this.keepClaim(claim, 0);
    } finally {
      yield* this.renewDue();
    }
  }

  /**
   * Marks claims whose Tasks are being adopted (taken over by this replica). `renewDueClaims` skips them until
   * `markSettled` or `markFailed` is called.
   */
  markPending(claims: readonly TaskClaim[]): void {
    for (const claim of claims) this.keepClaim({ ...claim, failures: 0 }, Infinity);
  }

  /**
   * Removes a claim (right to write a Task) from the claims to adopt: its Task has an execution, or the claim was
   * released.
   */
  markSettled({ taskId }: TaskClaim): void {
    this.troubled.delete(taskId);
  }

  /**
   * Schedules another attempt to adopt (take over) a Task after a pause. Pauses grow up to a minute, or up to an hour
   * if the error does not pass by itself.
   * @param failures number of failed attempts so far
   * @param lasting true if the error does not pass by itself
   */
  markFailed(claim: TaskClaim, failures: number, lasting = false): void {
    const pause = takeUpPause(failures, Math.min(FIRST_PAUSE_MS, this.lookMs), lasting);
    this.keepClaim({ ...claim, failures }, performance.now() + pause);
  }

  private async *renewDue(): AsyncGenerator<IdleClaim[], void, undefined> {
    const now = performance.now();
    const due = [...this.troubled.values()].filter(({ dueAt }) => dueAt <= now);
    while (due.length > 0) yield await this.renewChunk(due.splice(0, this.atOnce));
  }

  /**
   * Renews claims (rights to write Tasks), and returns the claims that got a new token. If the row of a Task is locked,
   * its claim stays due. If another replica has the claim, it is dropped.
   */
  private async renewChunk(chunk: readonly IdleClaim[]): Promise<IdleClaim[]> {
    for (const claim of chunk) if (this.isExecuted(claim)) this.markSettled(claim);
    const idle = chunk.filter((claim) => !this.isExecuted(claim));
    const { renewed, lost } = idle.length > 0 ? await this.renewAtOnce(idle) : NONE;
    for (const taskId of lost) this.troubled.delete(taskId);
    const tokens = new Map(renewed.map(({ taskId, token }) => [taskId, token]));
    return idle.flatMap((claim) => {
      const token = tokens.get(claim.taskId);
      return token === undefined ? [] : this.keepClaim({ ...claim, token }, Infinity);
    });
  }

  /**
   * Renews claims (rights to write Tasks) in one statement. If the statement fails, its claims move to the end of the
   * queue and are retried in smaller groups, so that one bad claim does not block the others.
   */
  private async renewAtOnce(claims: readonly IdleClaim[]): Promise<RenewedClaims> {
    try {
      const outcome = await this.store.renewClaims(claims);
      this.atOnce = Math.min(this.atOnce * 2, RENEWED_AT_ONCE);
      return outcome;
    } catch (error) {
      this.atOnce = Math.max(Math.floor(claims.length / 2), 1);
      for (const claim of claims) {
        this.troubled.delete(claim.taskId);
        this.keepClaim(claim, 0);
      }
      throw error;
    }
  }

  private isExecuted({ taskId, token }: TaskClaim): boolean {
    return this.registry.has(taskId) || this.registry.begun.has(token);
  }

  private keepClaim(claim: IdleClaim, dueAt: number): IdleClaim {
    const { taskId, token, failures } = claim;
    this.troubled.set(taskId, { taskId, token, failures, dueAt });
    return claim;
  }

  private async findIdleClaims(): Promise<IdleClaim[]> {
    const executed = this.registry.heldClaims();
    const claims = await this.paced.runLook(() => this.store.listClaims(this.replica.replicaId));
    const tokens = new Map(claims.map(({ taskId, token }) => [taskId, token]));
    for (const claim of executed) if (tokens.get(claim.taskId) !== claim.token) this.registry.onClaimLost(claim);
    const idle = claims.filter((claim) => !this.isExecuted(claim) && !this.troubled.has(claim.taskId));
    const before = this.idle;
    this.idle = new Set(idle.map(({ token }) => token));
    return idle.filter(({ token }) => before.has(token)).map((claim) => ({ ...claim, failures: 0 }));
  }
}

/** Maximum number of Tasks whose failures are kept. Each poll for overdue Tasks sends the ids of the Tasks to skip. */
const MOST_REMEMBERED = 10_000;

interface FailedWake {
  failures: number;
  dueAt: number;
}

/**
 * Failures to wake parked Tasks (Tasks that wait for a time). A Task is skipped until the pause after its last failure
 * is over, so that polls find other overdue Tasks.
 */
export class FailedWakes {
  /** Failed attempts to wake a Task, by Task id, the most recent last. */
  private readonly wakes = new Map<string, FailedWake>();

  /** @param firstPauseMs milliseconds of the pause after the first failure */
  constructor(private readonly firstPauseMs: number) {}

  /** Ids of the Tasks whose pause is not over. */
  get pausing(): string[] {
    const now = performance.now();
    return [...this.wakes].flatMap(([taskId, { dueAt }]) => (dueAt > now ? taskId : []));
  }

  /**
   * Records a failure to wake a Task.
   * @param lasting true if the error does not pass by itself; the pauses are then longer
   * @returns the number of earlier failures
   */
  addFailure(taskId: string, lasting: boolean): number {
    const { failures } = this.wakes.get(taskId) ?? { failures: 0 };
    this.wakes.delete(taskId);
    const pause = takeUpPause(failures + 1, this.firstPauseMs, lasting);
    this.wakes.set(taskId, { failures: failures + 1, dueAt: performance.now() + pause });
    if (this.wakes.size > MOST_REMEMBERED) this.wakes.delete(this.wakes.keys().next().value!);
    return failures;
  }

  /** Removes the failures of a Task that was woken. */
  forgetWoken(taskId: string): void {
    this.wakes.delete(taskId);
  }

  /**
   * Removes the failures of Tasks that are neither overdue nor pausing.
   * @param overdue Tasks that a complete poll has found overdue
   * @param pausing Tasks that the poll skipped because of their pauses
   */
  keepAmong(overdue: readonly string[], pausing: readonly string[]): void {
    const kept = new Set([...overdue, ...pausing]);
    for (const taskId of this.wakes.keys()) if (!kept.has(taskId)) this.wakes.delete(taskId);
  }
}
