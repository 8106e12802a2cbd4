import { setTimeout as delay } from 'node:timers/promises';
import type { OwnPostgres } from '../../support/own-postgres.js';
import type { Parley } from '../../support/parley.js';
import type { ReplicaCluster } from '../../support/replica-cluster.js';
import type { Fault, PlannedFault } from './fault-plan.js';
import type { ReplicaErrors } from './replica-errors.js';
import type { ReplicaMemory } from './replica-memory.js';

/** What does not start for so long never will: a safety net. */
const UNSTARTABLE_MS = 120_000;

/** Does to a cluster what the plan says. */
export class FaultDriver {
  /** How many faults of each kind there were. */
  readonly done = new Map<Fault['kind'], number>();
  private readonly frozen = new Set<Parley>();
  private readonly open = new Set<Promise<void>>();

  constructor(
    private readonly cluster: ReplicaCluster,
    private readonly postgres: Pick<OwnPostgres, 'crash' | 'restart'> | undefined,
    private readonly watched: { memory: ReplicaMemory; errors: ReplicaErrors },
    private readonly say: (line: string) => void,
  ) {}

  /**
   * Resolves when the plan or its time is over and everything that was broken is whole again. On a machine that does not
   * keep up with the plan its last faults are left out.
   */
  async follow(plan: readonly PlannedFault[], lengthMs: number, signal: AbortSignal): Promise<void> {
    const begun = performance.now();
    for (const fault of plan) {
      await delay(Math.max(0, begun + fault.atMs - performance.now()), undefined, { signal }).catch(() => undefined);
      if (signal.aborted || performance.now() - begun > lengthMs) break;
      const work = this.cause(fault).finally(() => this.open.delete(work));
      this.open.add(work);
      // Only a freeze goes on beside what comes next.
      if (fault.kind !== 'freeze') await work;
    }
    await Promise.all(this.open);
  }

  private async cause(fault: PlannedFault): Promise<void> {
    this.done.set(fault.kind, (this.done.get(fault.kind) ?? 0) + 1);
    this.say(`${(fault.atMs / 1000).toFixed(1)} s: ${nameOf(fault)}`);
    const victim = this.victim(fault);
    switch (fault.kind) {
      case 'kill':
        this.watched.memory.ended(victim);
        await this.cluster.kill(victim);
        return this.replace();
      case 'terminate':
        await this.replace();
        this.watched.memory.ended(victim);
        return this.cluster.retire(victim);
      case 'freeze':
        return this.freeze(victim, fault.seconds);
      case 'sessions':
        return this.endSessions(victim);
      case 'database':
        await this.postgres?.crash();
        await delay(fault.seconds * 1000);
        return this.postgres?.restart();
      case 'cut':
        this.cluster.balancer.cut(fault.probability);
    }
  }

  /** Someone who is not frozen, so that somebody is left who can work. */
  private victim({ target }: PlannedFault): Parley {
    const awake = this.cluster.replicas.filter((replica) => !this.frozen.has(replica));
    const victim = awake[Math.floor(target * awake.length)];
    if (victim === undefined) throw new Error('There is no replica to break');
    return victim;
  }

  /** Starts one more, again and again as a supervisor does: while its database fails over it cannot. */
  private async replace(): Promise<void> {
    const begun = performance.now();
    for (;;) {
      try {
        const replica = await this.cluster.add();
        this.watched.memory.begun(replica);
        return this.watched.errors.begun(replica);
      } catch (error) {
        if (performance.now() - begun > UNSTARTABLE_MS) throw error;
        this.say(`a replica could not start and is started again: ${(error as Error).message.split('\n')[0]}`);
        await delay(1_000);
      }
    }
  }

  private async freeze(victim: Parley, seconds: number): Promise<void> {
    if (this.frozen.size + 2 > this.cluster.replicas.length) return;
    this.frozen.add(victim);
    victim.freeze();
    await delay(seconds * 1000);
    victim.thaw();
    this.frozen.delete(victim);
  }

  private async endSessions({ pid }: Parley): Promise<void> {
    await this.cluster.database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = $1 OR application_name LIKE $1 || ':%'`,
      [`parley:${pid}`],
    );
  }
}

function nameOf(fault: Fault): string {
  if ('seconds' in fault) return `${fault.kind} for ${fault.seconds.toFixed(1)} s`;
  return fault.kind === 'cut' ? `cut ${Math.round(fault.probability * 100)} % of the connections` : fault.kind;
}
