import { randomUUID } from 'node:crypto';
import type { ReplicaLife } from '#libs/postgres';
import type { TaskClaim, TaskStore } from '#libs/tasks';
import type { ExecutionRegistry } from './execution-registry.js';
import { PacedLook } from './paced-look.js';
import { takeUpPause } from './take-up-pause.js';

/** Injected in milliseconds: how often a replica compares what it claims with what it executes, default 5,000. */
export const CLAIM_LOOK_MS = Symbol('CLAIM_LOOK_MS');

const FIRST_PAUSE_MS = 1_000;

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

  constructor(
    private readonly store: TaskStore,
    private readonly registry: ExecutionRegistry,
    private readonly replica: ReplicaLife,
    private readonly lookMs: number,
  ) {
    this.paced = new PacedLook(lookMs);
  }

  /** The claims that shall be taken up now: nobody else here works on them, whatever was begun with an older token. */
  async due(): Promise<IdleClaim[]> {
    if (this.paced.isDue) for (const claim of await this.look()) this.keep(claim, 0);
    const now = performance.now();
    return this.renew([...this.troubled.values()].filter(({ dueAt }) => dueAt <= now));
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

  /** Returns the claims renewed until one failed. That one is tried last from then on: it hides none of the others. */
  private async renew(claims: readonly IdleClaim[]): Promise<IdleClaim[]> {
    const renewed: IdleClaim[] = [];
    for (const claim of claims) {
      const token = randomUUID();
      try {
        const isOurs = !this.isExecuted(claim) && (await this.store.renew(claim, token));
        this.troubled.delete(claim.taskId);
        if (isOurs) renewed.push(this.keep({ ...claim, token }, Infinity));
      } catch (error) {
        this.troubled.delete(claim.taskId);
        this.keep(claim, 0);
        if (renewed.length === 0) throw error;
        break;
      }
    }
    return renewed;
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
