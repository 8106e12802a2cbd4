import { randomUUID } from 'node:crypto';
import { Inject, Injectable, Logger, Optional } from '@nestjs/common';
import { ServiceAddress } from '#libs/http';
import { Jobs } from '#libs/jobs';
import { isDatabaseAway, NO_KEY, REPLICA_LEFT, ReplicaLife, ReplicaSignals } from '#libs/postgres';
import { Shutdown } from '#libs/service';
import {
  ClaimLost,
  readWakePayload,
  type StoredTask,
  type TaskClaim,
  TaskEventRefused,
  TaskRecorder,
  TaskStore,
  WAKE,
} from '#libs/tasks';
import { AgentCatalog } from './agent-catalog.js';
import { ExecutionRegistry } from './execution-registry.js';
import { CLAIM_LOOK_MS, OwnClaims } from './own-claims.js';
import { TaskTakeUp } from './task-take-up.js';

const SWEEP_MS = 1000;
const BATCH = 32;

/**
 * Takes over the Tasks of replicas that are gone, and those that this replica claims without executing them, wakes the
 * parked ones when their time has come, and goes on with them or ends them with a reason. The Tasks of other living
 * replicas are never touched. What fails for a passing reason is tried again after a pause, as long as it takes: only an
 * agent that is gone for good, or that cannot go on, ends its Task.
 */
@Injectable()
export class TaskRecovery {
  private readonly logger = new Logger(TaskRecovery.name);
  private timer: NodeJS.Timeout | undefined;
  private sweeping = false;
  private again = false;
  /** Whether this sweep is the second look for what a dead replica still holds. */
  private lookedAgain = false;
  private stopped = false;
  private readonly ownClaims: OwnClaims;
  private readonly taking: TaskTakeUp;
  private lookedForOverdueAt = Number.NEGATIVE_INFINITY;

  /** @param jobs wake parked Tasks in time; without them a sweep does, somewhat later */
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
  ) {
    this.ownClaims = new OwnClaims(store, registry, replica, lookMs);
    this.taking = new TaskTakeUp({ store, recorder, registry, catalog, replica, address });
    shutdown.register('intake', () => this.stop());
    jobs?.register(WAKE, { read: readWakePayload, run: ({ taskId }) => this.wake(taskId) });
  }

  /** Sweeps at once, then every second, when a replica leaves and when one is lost. To be called when this process can be reached. */
  start(): void {
    const sweep = (): void => void this.sweepAndWait();
    sweep();
    this.replica.onLoss(sweep);
    this.signals?.subscribe(REPLICA_LEFT, { wake: sweep, catchUp: () => undefined }).watch(NO_KEY);
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  /** One look at the claims, and at what is overdue; resolves with the number of Tasks taken over. */
  async sweep(): Promise<number> {
    const adopted = await this.adoptOrphans();
    await this.takeUpIdle();
    await this.wakeOverdue();
    return adopted;
  }

  /**
   * Goes on with a parked Task whose time has come, once however often it is called, in whatever replica: it does nothing
   * where that has not come, somebody executes the Task, or it has ended.
   */
  async wake(taskId: string): Promise<void> {
    if (this.stopped) throw new Error('This process stops: another one wakes the task');
    const token = randomUUID();
    const stored = await this.store.claim(taskId, this.replica.replicaId, token, 'due');
    if (stored) await this.recover({ taskId, token }, 0, stored);
  }

  private async adoptOrphans(): Promise<number> {
    const dead = await this.replica.deadReplicas();
    const gone = [...dead, ...(await this.replica.unknownReplicas(await this.store.claimants()))];
    let adopted = 0;
    while (gone.length > 0 && !this.stopped) {
      const claims = await this.store.adopt(this.replica.replicaId, gone, BATCH);
      adopted += claims.length;
      for (const claim of claims) await this.recover(claim);
      // Whoever wished to cancel one of them has waited long enough.
      if (claims.length > 0) await this.registry.cancelRequested();
      if (claims.length < BATCH) break;
    }
    if (dead.length > 0 && !this.stopped) await this.forget(dead);
    return adopted;
  }

  /**
   * A replica is forgotten only after its Tasks were taken over. What its last commit still holds was left out: that is
   * over in a moment, so it is looked at once more before the next sweep.
   */
  private async forget(dead: readonly string[]): Promise<void> {
    const claimants = new Set(await this.store.claimants());
    for (const replicaId of dead) if (!claimants.has(replicaId)) await this.replica.forget(replicaId);
    const isHeld = dead.some((replicaId) => claimants.has(replicaId));
    if (isHeld && !this.lookedAgain) this.again = true;
    this.lookedAgain = isHeld && !this.lookedAgain;
  }

  private async takeUpIdle(): Promise<void> {
    if (this.stopped) return;
    const claims = await this.ownClaims.due();
    for (const claim of claims) if (!this.stopped) await this.recover(claim, claim.failures);
    if (claims.length > 0) await this.registry.cancelRequested();
  }

  /** What a job should have woken by now: its attempts have failed, or it is gone. A few at a time; the next sweep goes on. */
  private async wakeOverdue(): Promise<void> {
    const now = performance.now();
    if (this.stopped || now - this.lookedForOverdueAt < this.lookMs) return;
    const overdue = await this.store.overdue(this.lookMs, BATCH);
    if (overdue.length < BATCH) this.lookedForOverdueAt = now;
    for (const taskId of overdue) if (!this.stopped) await this.wake(taskId);
    // Whoever wished to cancel one of them has waited long enough.
    if (overdue.length > 0) await this.registry.cancelRequested();
  }

  /** One sweep at a time; what is asked for meanwhile comes right after. */
  private async sweepAndWait(): Promise<void> {
    this.again = true;
    if (this.sweeping) return;
    this.sweeping = true;
    clearTimeout(this.timer);
    while (this.again && !this.stopped) {
      this.again = false;
      try {
        const adopted = await this.sweep();
        if (adopted > 0) this.logger.log({ tasks: adopted }, 'Took over tasks of replicas that are gone');
      } catch (error) {
        // A process that stops does not wait for a look that is under way: others look.
        if (this.stopped) break;
        this.logger.warn({ err: error }, 'Looking for tasks without a replica failed; it is tried again');
      }
    }
    this.sweeping = false;
    if (!this.stopped) this.timer = setTimeout(() => void this.sweepAndWait(), SWEEP_MS);
  }

  private async recover(claim: TaskClaim, failures = 0, due?: StoredTask): Promise<void> {
    try {
      await this.taking.takeUp(claim, failures, due);
      this.ownClaims.settled(claim);
      if (failures > 0) this.logger.log({ taskId: claim.taskId, failures }, 'A task was recovered after all');
    } catch (error) {
      if (error instanceof ClaimLost) return this.ownClaims.settled(claim);
      this.ownClaims.failed(claim, failures + 1, isLasting(error));
      // Told once: it may be tried again for ever.
      const level = failures > 0 ? 'debug' : isDatabaseAway(error) ? 'warn' : 'error';
      const facts = { err: error, taskId: claim.taskId, failures };
      this.logger[level](facts, 'A task could not be recovered; it is tried again, less often each time');
    }
  }
}

/** Whether the log itself is at fault, which no database that comes back mends. */
function isLasting(error: unknown): boolean {
  return error instanceof TaskEventRefused || error instanceof SyntaxError || error instanceof TypeError;
}
