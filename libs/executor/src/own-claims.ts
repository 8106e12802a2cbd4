import type { ReplicaLife } from '#libs/postgres';
import type { RenewedClaims, TaskClaim, TaskStore } from '#libs/tasks';
import type { ExecutionRegistry } from './execution-registry.js';
import { PacedLook } from './paced-look.js';
import { takeUpPause } from './take-up-pause.js';

/** Injected in milliseconds: how often a replica compares what it claims with what it executes, default 5,000. */
export const CLAIM_LOOK_MS = Symbol('CLAIM_LOOK_MS');

const FIRST_PAUSE_MS = 1_000;
/** Claims that are renewed in one statement. */
const RENEWED_AT_ONCE = 500;
const NONE: RenewedClaims = { renewed: [], lost: [] };

/** A claim of this replica that it does not execute. */
export interface IdleClaim extends TaskClaim {
  /** How often it could not be taken up. */
  failures: number;
}

/**
 * Compares the claims of this replica with its executions. A claim without an execution (a statement failed, or its
 * answer was lost) is to be taken up; an execution without its claim (this process was frozen, and another replica took
 * the Task over) is ended at once, whether it writes or not.
 */
export class OwnClaims {
  /** The tokens that nobody executed at the last look: the answer to their statement may still be on its way. */
  private idle = new Set<string>();
  private readonly troubled = new Map<string, IdleClaim & { dueAt: number }>();
  private readonly paced: PacedLook;
  /** How many are renewed in one statement: fewer after a failure, to find the claim that it is due to. */
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
   * Yields the claims that shall be taken up now, each chunk before the next one is renewed: nothing else here works on
   * them, whatever was begun with an older token. Those that are known are due also where the look at the others fails.
   */
  async *due(): AsyncGenerator<IdleClaim[], void, undefined> {
    try {
      if (this.paced.isDue) for (const claim of await this.look()) this.keep(claim, 0);
    } finally {
      yield* this.renewDue();
    }
  }

  /** These claims are about to be taken up: until they are `settled` or `failed`, nobody else here does so. */
  pending(claims: readonly TaskClaim[]): void {
    for (const claim of claims) this.keep({ ...claim, failures: 0 }, Infinity);
  }

  /** The claim is executed, or was let go. */
  settled({ taskId }: TaskClaim): void {
    this.troubled.delete(taskId);
  }

  /**
   * The claim could not be taken up: it is due again after a pause, longer each time, up to a minute, or to an hour
   * where the reason does not pass by itself.
   */
  failed(claim: TaskClaim, failures: number, lasting = false): void {
    const pause = takeUpPause(failures, Math.min(FIRST_PAUSE_MS, this.lookMs), lasting);
    this.keep({ ...claim, failures }, performance.now() + pause);
  }

  private async *renewDue(): AsyncGenerator<IdleClaim[], void, undefined> {
    const now = performance.now();
    const due = [...this.troubled.values()].filter(({ dueAt }) => dueAt <= now);
    while (due.length > 0) yield await this.renew(due.splice(0, this.atOnce));
  }

  /** Returns the claims that have new tokens. One whose row is locked stays due; one of another is dropped. */
  private async renew(chunk: readonly IdleClaim[]): Promise<IdleClaim[]> {
    for (const claim of chunk) if (this.isExecuted(claim)) this.settled(claim);
    const idle = chunk.filter((claim) => !this.isExecuted(claim));
    const { renewed, lost } = idle.length > 0 ? await this.renewAtOnce(idle) : NONE;
    for (const taskId of lost) this.troubled.delete(taskId);
    const tokens = new Map(renewed.map(({ taskId, token }) => [taskId, token]));
    return idle.flatMap((claim) => {
      const token = tokens.get(claim.taskId);
      return token === undefined ? [] : this.keep({ ...claim, token }, Infinity);
    });
  }

  /** Renews claims. Those that fail together come last from then on, fewer at once: one of them hides none of the others. */
  private async renewAtOnce(claims: readonly IdleClaim[]): Promise<RenewedClaims> {
    try {
      const outcome = await this.store.renew(claims);
      this.atOnce = Math.min(this.atOnce * 2, RENEWED_AT_ONCE);
      return outcome;
    } catch (error) {
      this.atOnce = Math.max(Math.floor(claims.length / 2), 1);
      for (const claim of claims) {
        this.troubled.delete(claim.taskId);
        this.keep(claim, 0);
      }
      throw error;
    }
  }

  private isExecuted({ taskId, token }: TaskClaim): boolean {
    return this.registry.has(taskId) || this.registry.begun.has(token);
  }

  private keep(claim: IdleClaim, dueAt: number): IdleClaim {
    const { taskId, token, failures } = claim;
    this.troubled.set(taskId, { taskId, token, failures, dueAt });
    return claim;
  }

  private async look(): Promise<IdleClaim[]> {
    const executed = this.registry.claims();
    const claims = await this.paced.run(() => this.store.claims(this.replica.replicaId));
    const tokens = new Map(claims.map(({ taskId, token }) => [taskId, token]));
    for (const claim of executed) if (tokens.get(claim.taskId) !== claim.token) this.registry.lose(claim);
    const idle = claims.filter((claim) => !this.isExecuted(claim) && !this.troubled.has(claim.taskId));
    const before = this.idle;
    this.idle = new Set(idle.map(({ token }) => token));
    return idle.filter(({ token }) => before.has(token)).map((claim) => ({ ...claim, failures: 0 }));
  }
}
