import { Inject, Injectable, Logger, Optional } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { AgentCatalog } from '#libs/agents';
import { ServiceAddress } from '#libs/http-server';
import { Jobs } from '#libs/job-queue';
import { isDatabaseAway, NO_KEY, REPLICA_LEFT, ReplicaLife, ReplicaSignals } from '#libs/postgres';
import { type FactPayloads, Facts, Metrics, OnFact, Shutdown } from '#libs/service';
import {
  ClaimLost,
  readWakePayload,
  type StoredTask,
  type TaskClaim,
  TaskEventRefused,
  type TaskLog,
  TaskRecorder,
  TaskStore,
  WAKE,
} from '#libs/tasks';
import { CLAIM_LOOK_MS, ClaimReconciler, FailedWakes, PacedLook } from './claim-reconciler.js';
import { ExecutionRegistry } from './execution-registry.js';
import { mustBeResumed, type PendingClaim, TakeUpQueue, TaskAdoption } from './task-adoption.js';

const SWEEP_MS = 1000;
/** Maximum number of claims (rights to write Tasks) that are adopted in one statement. */
const ADOPTED_AT_ONCE = 500;
/** Maximum number of overdue Tasks that are woken in one sweep (one periodic check for Tasks to recover). */
const WOKEN_AT_ONCE = 32;
/** Maximum number of overdue Tasks that are read at the same time. Each Task is in memory as a whole. */
const WAKING_AT_ONCE = 4;

/**
 * Recovers Tasks: adopts (takes over) Tasks of dead replicas, and Tasks that this replica has claimed without executing
 * them. Also wakes parked Tasks, which only wait for a time, when that time has come. Each Task is resumed, released,
 * or ended with a reason.
 * - Tasks of other living replicas are never touched.
 * - After a temporary error, recovery is retried with growing pauses, without limit.
 * - A Task is ended only if its agent no longer exists or cannot resume it, or a cancel was requested.
 */
@Injectable()
export class TaskRecovery {
  private readonly logger = new Logger(TaskRecovery.name);
  private timer: NodeJS.Timeout | undefined;
  private sweeping = false;
  private again = false;
  /**
   * True if the previous sweep (check for Tasks to recover) could not adopt all claims of a dead replica, because their
   * rows were locked, and so requested this sweep. This sweep then does not request another one for the same reason.
   */
  private lookedAgain = false;
  private stopped = false;
  private readonly ownClaims: ClaimReconciler;
  private readonly taking: TaskAdoption;
  private readonly queue: TakeUpQueue;
  /** Number of Tasks that this replica has adopted since it last removed a dead replica from the list of replicas. */
  private takenOver = 0;
  private lookedForOverdueAt = Number.NEGATIVE_INFINITY;
  private readonly failedWakes: FailedWakes;
  private waking: Promise<void> | undefined;
  private readonly unknownLook: PacedLook;

  /**
   * @param jobs queue whose jobs wake parked Tasks (those that wait for a time) on time; absent: only sweeps wake them,
   *   somewhat later
   */
  constructor(
    private readonly store: TaskStore,
    recorder: TaskRecorder,
    private readonly registry: ExecutionRegistry,
    catalog: AgentCatalog,
    private readonly replica: ReplicaLife,
    address: ServiceAddress,
    shutdown: Shutdown,
    @Optional() private readonly signals?: ReplicaSignals,
    @Optional() @Inject(CLAIM_LOOK_MS) private readonly lookMs = 5_000,
    @Optional() jobs?: Jobs,
    @Optional() private readonly facts?: Facts,
  ) {
    this.failedWakes = new FailedWakes(Math.min(lookMs, SWEEP_MS));
    this.unknownLook = new PacedLook(Math.min(lookMs, SWEEP_MS));
    this.ownClaims = new ClaimReconciler(store, registry, replica, lookMs);
    this.taking = new TaskAdoption({ store, recorder, registry, catalog, replica, address });
    this.queue = new TakeUpQueue(
      store,
      (claim, read) => this.recoverClaim(claim, read),
      (claim, error) => this.onTakeUpFailed(claim, error),
      mustBeResumed,
    );
    shutdown.registerStep('intake', () => this.stop());
    jobs?.registerHandler(WAKE, { read: readWakePayload, run: ({ taskId }) => this.wakeTask(taskId) });
  }

  /**
   * Starts the sweeps, which check for Tasks to recover: now, every second, and when a replica leaves or is lost. Call
   * this method once other replicas can reach this process.
   */
  start(): void {
    const startSweep = (): void => void this.sweepAndWait();
    startSweep();
    this.replica.onLoss(startSweep);
    this.signals?.subscribeTopic(REPLICA_LEFT, { wakeFor: startSweep, catchUp: () => undefined }).watchKey(NO_KEY);
  }

  stop(): void {
    this.stopped = true;
    this.queue.stop();
    clearTimeout(this.timer);
  }

  /**
   * Makes one sweep: adopts the Tasks of claims, and wakes overdue Tasks. Resolves with the number of adopted Tasks,
   * once each of them has an execution, has ended, was released, or could not be adopted.
   */
  async sweepOnce(): Promise<number> {
    let adopted: number;
    try {
      adopted = await this.lookAtClaims();
    } finally {
      await this.wakeBeside();
    }
    await this.queue.whenIdle();
    return adopted;
  }

  /**
   * Resumes a parked Task (one that waits for a time) whose time has come. It may be called any number of times, in any
   * replica. Does nothing if the time has not come, or the Task has an execution or has ended.
   * @throws Error if this process is stopping
   */
  async wakeTask(taskId: string): Promise<void> {
    if (this.stopped) throw new Error('This process stops: another one wakes the task');
    const token = randomUUID();
    await this.registry.begun.runClaiming(token, async () => {
      const stored = await this.store.claimTask(taskId, this.replica.replicaId, token, 'due');
      if (stored) await this.recoverDue({ taskId, token, failures: 0 }, stored);
    });
  }

  /**
   * Adopts claims (rights to write Tasks) of dead replicas, then the claims of this replica that have no execution. The
   * recovery of their Tasks is queued and not awaited. If one of the two steps fails, the other is still done.
   */
  private async lookAtClaims(): Promise<number> {
    try {
      return await this.adoptOrphans();
    } finally {
      await this.takeUpIdle();
    }
  }

  /**
   * Wakes overdue parked Tasks (Tasks that wait for a time). This runs separately from the adoption of claims, so that
   * slow logs here do not delay the Tasks of dead replicas.
   */
  private wakeBeside(): Promise<void> {
    this.waking ??= this.wakeOverdue().finally(() => (this.waking = undefined));
    return this.waking;
  }

  private async adoptOrphans(): Promise<number> {
    const dead = await this.replica.deadReplicas();
    const succeeded = new Set(await this.succeedReplicas(dead));
    let adopted = await this.adoptFrom(dead);
    this.takenOver += adopted;
    adopted += await this.adoptFrom(await this.unknownReplicas());
    if (dead.length > 0 && !this.stopped) await this.forgetReplicas(dead, succeeded);
    return adopted;
  }

  /**
   * Returns the ids of replicas that hold claims (rights to write Tasks) and that this replica does not know. Such
   * replicas are rare, so the query is limited in time (PacedLook).
   */
  private async unknownReplicas(): Promise<string[]> {
    if (!this.unknownLook.isDue) return [];
    return this.replica.unknownReplicas(await this.unknownLook.runLook(() => this.store.listClaimants()));
  }

  /**
   * Releases other resources of dead replicas, such as their jobs, before their Tasks are adopted.
   * @returns the replicas whose resources could be released
   */
  private async succeedReplicas(dead: readonly string[]): Promise<string[]> {
    const succeeded: string[] = [];
    for (const replicaId of dead) {
      try {
        await this.replica.runSuccessors(replicaId);
        succeeded.push(replicaId);
      } catch (error) {
        // Another process releases them: this one is closing its sessions.
        if (this.stopped) break;
        this.logger.warn({ err: error, replicaId }, 'The claims of a dead replica could not be released; retrying');
      }
    }
    return succeeded;
  }

  /**
   * Adopts the Tasks of dead replicas in batches, and returns their number. Each batch checks again that the replica is
   * dead. If the replica was only cut off and has returned, it loses no further Task.
   */
  private async adoptFrom(gone: readonly string[]): Promise<number> {
    let adopted = 0;
    for (let more = gone.length > 0; more && !this.stopped;) {
      const claims = await this.store.adoptTasks(this.replica.replicaId, gone, ADOPTED_AT_ONCE);
      this.ownClaims.markPending(claims);
      this.takeUpAll(claims.toSorted(newestFirst).map((claim) => ({ ...claim, failures: 0 })));
      adopted += claims.length;
      more = claims.length === ADOPTED_AT_ONCE;
    }
    return adopted;
  }

  /**
   * Removes dead replicas that have no Tasks left to adopt from the list of replicas. If a dead replica still has
   * claims, another sweep follows immediately: the last commit of that replica may have locked the rows of the claims
   * for a moment.
   * @param succeeded replicas whose other resources have been released
   */
  private async forgetReplicas(dead: readonly string[], succeeded: ReadonlySet<string>): Promise<void> {
    const claimants = new Set(await this.store.listClaimants(dead));
    for (const replicaId of dead) {
      if (!succeeded.has(replicaId) || claimants.has(replicaId)) continue;
      if (!(await this.replica.forgetReplica(replicaId))) continue;
      this.facts?.emit('replica.left', { replicaId, takenOver: this.takenOver });
      this.takenOver = 0;
    }
    const isHeld = dead.some((replicaId) => claimants.has(replicaId));
    if (isHeld && !this.lookedAgain) this.again = true;
    this.lookedAgain = isHeld && !this.lookedAgain;
  }

  private async takeUpIdle(): Promise<void> {
    if (this.stopped) return;
    for await (const claims of this.ownClaims.renewDueClaims()) {
      if (this.stopped) return;
      this.takeUpAll(claims);
    }
  }

  private takeUpAll(claims: readonly PendingClaim[]): void {
    if (claims.length === 0 || this.stopped) return;
    this.queue.add(claims);
    void this.queue.whenIdle().then(() => this.cancelRequested());
  }

  /**
   * Cancels the Tasks of this replica that have a cancel request now, without waiting for the next poll, because the
   * callers of recovered Tasks have already waited.
   */
  private async cancelRequested(): Promise<void> {
    try {
      if (!this.stopped) await this.registry.cancelRequested();
    } catch (error) {
      this.logger.debug({ err: error }, 'Polling for tasks to cancel failed; retrying');
    }
  }

  /**
   * Wakes at most 32 parked Tasks (Tasks that wait for a time) whose wake job has failed or is missing. The next sweep
   * wakes more.
   */
  private async wakeOverdue(): Promise<void> {
    const now = performance.now();
    if (this.stopped || now - this.lookedForOverdueAt < this.lookMs) return;
    const { pausing } = this.failedWakes;
    const overdue = await this.store.findOverdue(this.lookMs, WOKEN_AT_ONCE, pausing);
    if (overdue.length < WOKEN_AT_ONCE) {
      this.lookedForOverdueAt = now;
      this.failedWakes.keepAmong(overdue, pausing);
    }
    const wakeNext = async (): Promise<void> => {
      for (let taskId = overdue.shift(); taskId !== undefined; taskId = overdue.shift()) await this.wakeLate(taskId);
    };
    const isAny = overdue.length > 0;
    await Promise.all(Array.from({ length: WAKING_AT_ONCE }, wakeNext));
    if (isAny) await this.cancelRequested();
  }

  /** Wakes an overdue Task. After a failure the Task is skipped for a growing pause. Never rejects. */
  private async wakeLate(taskId: string): Promise<void> {
    try {
      await this.wakeTask(taskId);
      this.failedWakes.forgetWoken(taskId);
    } catch (error) {
      // A stopping process wakes no Tasks: other processes do.
      if (!this.stopped) this.reportFailure(error, taskId, this.failedWakes.addFailure(taskId, isLasting(error)));
    }
  }

  /**
   * Sweeps now (checks for Tasks to recover), one sweep at a time. If it is called during a sweep, one more sweep
   * follows.
   */
  private async sweepAndWait(): Promise<void> {
    this.again = true;
    if (this.sweeping) return;
    this.sweeping = true;
    clearTimeout(this.timer);
    while (this.again && !this.stopped) {
      this.again = false;
      try {
        const adopted = await this.lookAtClaims();
        if (adopted > 0) this.logger.log({ tasks: adopted }, 'Took over tasks of dead replicas');
      } catch (error) {
        this.reportLook(error);
      }
      this.wakeBeside().catch((error: unknown) => this.reportLook(error));
    }
    this.sweeping = false;
    if (!this.stopped) this.timer = setTimeout(() => void this.sweepAndWait(), SWEEP_MS);
  }

  private reportLook(error: unknown): void {
    // A stopping process does not wait for a running sweep: other processes sweep.
    if (this.stopped) return;
    this.logger.warn({ err: error }, 'Polling for tasks without a replica failed; retrying');
  }

  private async recoverClaim(claim: PendingClaim, read: TaskLog | undefined): Promise<void> {
    await this.settleClaim(claim, () => this.taking.takeUp(claim, claim.failures, read));
  }

  private async recoverDue(claim: PendingClaim, stored: StoredTask): Promise<void> {
    await this.settleClaim(claim, () => this.taking.takeUpDue(claim, stored));
  }

  private async settleClaim(claim: PendingClaim, takeUp: () => Promise<void>): Promise<void> {
    try {
      await takeUp();
      this.ownClaims.markSettled(claim);
      const { taskId, failures } = claim;
      if (failures > 0) this.logger.log({ taskId, failures }, 'A task was recovered after retries');
    } catch (error) {
      this.onTakeUpFailed(claim, error);
    }
  }

  private onTakeUpFailed(claim: PendingClaim, error: unknown): void {
    if (error instanceof ClaimLost) return this.ownClaims.markSettled(claim);
    const { taskId, failures } = claim;
    this.ownClaims.markFailed(claim, failures + 1, isLasting(error));
    this.reportFailure(error, taskId, failures);
  }

  /**
   * Logs why a Task could not be recovered. Only the first failure is logged as a warning or an error, because retries
   * have no limit.
   */
  private reportFailure(error: unknown, taskId: string, failures: number): void {
    const level = failures > 0 ? 'debug' : isDatabaseAway(error) ? 'warn' : 'error';
    const facts = { err: error, taskId, failures };
    this.logger[level](facts, 'A task could not be recovered; retrying, less often each time');
  }
}

/** True if the fault is in the log of the Task itself, so that a later attempt fails as well. */
function isLasting(error: unknown): boolean {
  return error instanceof TaskEventRefused || error instanceof SyntaxError || error instanceof TypeError;
}

/**
 * Compares claims so that children come before their parents: a resumed parent then finds its children running. Task
 * ids start with the creation time.
 */
function newestFirst(a: TaskClaim, b: TaskClaim): number {
  return a.taskId < b.taskId ? 1 : -1;
}

/** Logs and counts replicas that have left or died and whose Tasks other replicas have adopted. */
@Injectable()
export class LeftReplicas {
  private readonly logger = new Logger(LeftReplicas.name);
  private readonly left;

  constructor(metrics: Metrics) {
    this.left = metrics.counter(
      'parley_replicas_left_total',
      'Replicas whose work this replica has seen to the end of',
    );
  }

  @OnFact('replica.left')
  countReplica(): void {
    this.left.inc();
  }

  @OnFact('replica.left')
  logReplica({ replicaId, takenOver }: FactPayloads['replica.left']): void {
    this.logger.log({ replicaId, takenOver }, 'A replica has left');
  }
}
