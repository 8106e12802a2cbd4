import type { ReplicaLife } from '#libs/postgres';
import { Backoff } from '#libs/service';
import type { RenewedClaims, TaskClaim, TaskStore } from '#libs/tasks';
import type { ExecutionRegistry } from './execution-registry.js';

/** Factor of the pause after a poll: the poll's own duration times this. */
const REST = 20;
/** Maximum milliseconds of the pause after a poll. */
const LONGEST_REST_MS = 30_000;

/**
 * Paces a poll whose query becomes slow while a database snapshot is held, because it scans dead rows. The query takes
 * at most a twentieth of the time, unless it takes longer than a second and a half.
 */
export class PacedLook {
  private dueAt = Number.NEGATIVE_INFINITY;

  /** @param leastPauseMs minimum milliseconds between two polls; 0: a poll is always due */
  constructor(private readonly leastPauseMs: number) {}

  get isDue(): boolean {
    return performance.now() >= this.dueAt;
  }

  /** Runs a poll. After a failure the next poll is due immediately. */
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
/** Longest pause in milliseconds after an error that does not pass by itself. */
const LONGEST_LASTING_PAUSE_MS = 60 * 60_000;

/**
 * Returns the milliseconds before the next attempt to adopt a Task (back-off): doubled by each failure, up to a limit.
 */
function takeUpPause(failures: number, firstMs: number, lasting: boolean): number {
  return new Backoff(firstMs, lasting ? LONGEST_LASTING_PAUSE_MS : LONGEST_PASSING_PAUSE_MS).pauseAfter(failures - 1);
}

/** Injection token: milliseconds between comparisons of claims with executions, 5,000 by default. */
export const CLAIM_LOOK_MS = Symbol('CLAIM_LOOK_MS');

const FIRST_PAUSE_MS = 1_000;
/** Maximum number of claims to renew in one statement. */
const RENEWED_AT_ONCE = 500;
const NONE: RenewedClaims = { renewed: [], lost: [] };

/** Claim that this replica holds without an execution. */
export interface IdleClaim extends TaskClaim {
  /** Number of failed attempts to adopt the Task. */
  failures: number;
}

/**
 * Compares the claims of this replica with its executions.
 * - A claim without an execution (its statement failed, or the answer was lost) is reported, so that its Task is
 *   adopted.
 * - An execution without its claim (this process was frozen, and another replica adopted the Task) ends immediately,
 *   even if it does not write.
 */
export class ClaimReconciler {
  /** Tokens of claims that had no execution at the last poll. The answer to their statement may still be on its way. */
  private idle = new Set<string>();
  private readonly troubled = new Map<string, IdleClaim & { dueAt: number }>();
  private readonly paced: PacedLook;
  /**
   * Current maximum number of claims per statement. It shrinks after a failure, to isolate the claim that causes it.
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
   * Yields the claims whose Tasks must be adopted now, in chunks. Each claim has a new token, which fences work that
   * began with the old one. Claims that are due for a retry are yielded even if the poll for idle claims fails.
   */
  async *renewDueClaims(): AsyncGenerator<IdleClaim[], void, undefined> {
    try {
      if (this.paced.isDue) for (const claim of await this.findIdleClaims()) this.keepClaim(claim, 0);
    } finally {
      yield* this.renewDue();
    }
  }

  /** Marks claims whose Tasks are being adopted. They are not due until `markSettled` or `markFailed` is called. */
  markPending(claims: readonly TaskClaim[]): void {
    for (const claim of claims) this.keepClaim({ ...claim, failures: 0 }, Infinity);
  }

  /** Forgets a claim that has an execution or was released. */
  markSettled({ taskId }: TaskClaim): void {
    this.troubled.delete(taskId);
  }

  /**
   * Schedules another attempt to adopt a Task after a pause. Pauses grow up to a minute, or up to an hour if the cause
   * does not pass by itself (`lasting`).
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
   * Renews claims and returns those that got a new token. A claim whose row is locked stays due. A claim that another
   * replica holds is dropped.
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
   * Renews claims in one statement. Claims that fail together move to the end and are retried in smaller groups, so
   * that one bad claim does not block the others.
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

/** Maximum number of remembered failed Tasks, since each poll for overdue Tasks sends their ids. */
const MOST_REMEMBERED = 10_000;

interface FailedWake {
  failures: number;
  dueAt: number;
}

/**
 * Parked Tasks that could not be woken. Each is skipped until its pause is over, so that other overdue Tasks are found.
 */
export class FailedWakes {
  /** Failures by Task id, the most recent failure last. */
  private readonly wakes = new Map<string, FailedWake>();

  /** @param firstPauseMs milliseconds of the pause after the first failure */
  constructor(private readonly firstPauseMs: number) {}

  /** Ids of the Tasks whose pause is not over. */
  get pausing(): string[] {
    const now = performance.now();
    return [...this.wakes].flatMap(([taskId, { dueAt }]) => (dueAt > now ? taskId : []));
  }

  /** Adds a failure to wake a Task. @returns the number of earlier failures */
  addFailure(taskId: string, lasting: boolean): number {
    const { failures } = this.wakes.get(taskId) ?? { failures: 0 };
    this.wakes.delete(taskId);
    const pause = takeUpPause(failures + 1, this.firstPauseMs, lasting);
    this.wakes.set(taskId, { failures: failures + 1, dueAt: performance.now() + pause });
    if (this.wakes.size > MOST_REMEMBERED) this.wakes.delete(this.wakes.keys().next().value!);
    return failures;
  }

  /** Forgets a Task that was woken. */
  forgetWoken(taskId: string): void {
    this.wakes.delete(taskId);
  }

  /** Forgets the Tasks that a complete poll has not found overdue and that are not pausing. */
  keepAmong(overdue: readonly string[], pausing: readonly string[]): void {
    const kept = new Set([...overdue, ...pausing]);
    for (const taskId of this.wakes.keys()) if (!kept.has(taskId)) this.wakes.delete(taskId);
  }
}
