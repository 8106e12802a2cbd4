import { setTimeout as delay } from 'node:timers/promises';
import { type OneWayLink, OneWayRelay } from '../../support/one-way-relay.js';
import { type Parley, type ParleyOptions, startParley } from '../../support/parley.js';
import { type ClusterDatabase, ReplicaCluster } from '../../support/replica-cluster.js';
import type { SeededRandom } from '../../support/seeded-random.js';
import { ShiftedClock } from '../../support/shifted-clock.js';
import type { ReplicaErrors } from './replica-errors.js';
import type { ReplicaMemory } from './replica-memory.js';
import type { BrokenTime } from './takeovers.js';

/** Milliseconds by which the clock of a replica may be shifted. */
export const SHIFTS_MS = [-30_000, -300, 300, 30_000];
/** Milliseconds after which a replica that has not started counts as failed. */
const UNSTARTABLE_MS = 120_000;

/** Milliseconds within which a replica has replaced its lost sessions, even on a very busy machine. */
const RECONNECTED_MS = 5_000;

export interface TrialReplicasOptions {
  database: ClusterDatabase;
  replicas: number;
  env: Record<string, string>;
  random: SeededRandom;
  /** True if the clocks of replicas are shifted from the start. */
  clocks: boolean;
  /**
   * True if there are links that can be cut: between each replica and its database, and between the replica and its
   * callers.
   */
  links: boolean;
  /** Main file of another version, which all replicas run at first. */
  earlier: string | undefined;
  memory: ReplicaMemory;
  errors: ReplicaErrors;
  say(line: string): void;
}

/** Links of one replica that can be cut. */
interface ReplicaLinks {
  database: OneWayLink;
  callers: OneWayLink;
}

/** Replicas of a trial: their clocks and links, and which of them may be broken now. */
export class TrialReplicas {
  /**
   * Periods by process id in which its Tasks may be taken over: from when it was killed, terminated, suspended or
   * disconnected, and after it lost its sessions.
   */
  readonly broken = new Map<number, BrokenTime[]>();
  private readonly disturbed = new Set<Parley>();
  private readonly clocks = new Map<number, ShiftedClock>();
  private readonly links = new Map<number, ReplicaLinks>();
  private readonly ofEarlier = new Set<number>();
  private isEarlierNext: boolean;
  private readonly relay: OneWayRelay | undefined;
  private running: ReplicaCluster | undefined;

  private constructor(private readonly options: TrialReplicasOptions) {
    this.isEarlierNext = options.earlier !== undefined;
    this.relay = options.links ? OneWayRelay.start() : undefined;
  }

  static async begin(options: TrialReplicasOptions): Promise<TrialReplicas> {
    const { database, replicas, env } = options;
    const trial = new TrialReplicas(options);
    trial.running = await ReplicaCluster.start(database, { replicas, env, launch: (it) => trial.launch(it) });
    // Whatever starts from now on is of this version, unless a fault chooses the earlier one.
    trial.chooseVersion(false);
    return trial;
  }

  get cluster(): ReplicaCluster {
    if (this.running === undefined) throw new Error('The replicas have not begun yet');
    return this.running;
  }

  /** Returns a replica that no fault disturbs, so that at least one can work. */
  awake(target: number): Parley {
    const awake = this.cluster.replicas.filter((replica) => !this.disturbed.has(replica));
    const chosen = awake[Math.floor(target * awake.length)];
    if (chosen === undefined) throw new Error('There is no replica to break');
    return chosen;
  }

  /**
   * Disturbs a replica for a while. Later faults choose other replicas meanwhile.
   * @returns false if fewer than two undisturbed replicas would be left
   */
  async disturb(target: number, work: (victim: Parley) => Promise<void>): Promise<boolean> {
    if (this.disturbed.size + 2 > this.cluster.replicas.length) return false;
    const victim = this.awake(target);
    this.disturbed.add(victim);
    this.noteBroken(victim);
    try {
      await work(victim);
    } finally {
      this.disturbed.delete(victim);
    }
    return true;
  }

  /** Starts one more replica. Retries as a supervisor does, since the start fails while the database is unreachable. */
  async start(): Promise<Parley> {
    const begun = performance.now();
    for (;;) {
      try {
        return await this.cluster.add();
      } catch (error) {
        if (performance.now() - begun > UNSTARTABLE_MS) throw error;
        this.options.say(`a replica could not start and is started again: ${(error as Error).message.split('\n')[0]}`);
        await delay(1_000);
      }
    }
  }

  async kill(victim: Parley): Promise<void> {
    this.options.memory.ended(victim);
    this.noteBroken(victim);
    await this.cluster.kill(victim);
    this.forget(victim);
  }

  async retire(victim: Parley): Promise<void> {
    this.options.memory.ended(victim);
    this.noteBroken(victim);
    await this.cluster.retire(victim);
    this.forget(victim);
  }

  /** Returns the clock of a replica; undefined if replicas use the machine's clock. */
  clockOf({ pid }: Parley): ShiftedClock | undefined {
    return this.clocks.get(pid);
  }

  /** Returns the links of a replica; undefined if it has none. */
  linksOf({ pid }: Parley): ReplicaLinks | undefined {
    return this.links.get(pid);
  }

  isEarlier({ pid }: Parley): boolean {
    return this.ofEarlier.has(pid);
  }

  /** Sets the version of the replicas that start from now on: this one or the earlier one. */
  chooseVersion(earlier: boolean): void {
    this.isEarlierNext = earlier && this.options.earlier !== undefined;
  }

  async stop(): Promise<void> {
    await this.cluster.stop();
    await this.relay?.stop();
    for (const clock of this.clocks.values()) clock.remove();
  }

  /**
   * Records that PostgreSQL ends the sessions of a replica: others may take over its Tasks if it has no new session
   * after 0.3 s.
   */
  noteSessionsLost({ pid }: Parley): void {
    const from = new Date();
    this.noteTime(pid, { from, until: new Date(from.getTime() + RECONNECTED_MS) });
  }

  private noteTime(pid: number, time: BrokenTime): void {
    this.broken.set(pid, [...(this.broken.get(pid) ?? []), time]);
  }

  private noteBroken({ pid }: Parley): void {
    this.noteTime(pid, { from: new Date() });
  }

  private async launch(options: ParleyOptions): Promise<Parley> {
    const { clocks, random, memory, errors, database } = this.options;
    const clock = clocks ? new ShiftedClock(random.pick(SHIFTS_MS)) : undefined;
    const link = await this.relay?.linkTo(database.url);
    const databaseUrl = link?.url ?? database.url;
    const main = this.isEarlierNext ? this.options.earlier : undefined;
    try {
      const started = await startParley({
        ...{ ...options, databaseUrl, env: { ...options.env, ...clock?.env } },
        ...(main !== undefined && { main }),
      });
      if (main !== undefined) this.ofEarlier.add(started.pid);
      const replica = link ? await this.linked(started, link) : started;
      if (clock) this.clocks.set(replica.pid, clock);
      memory.begun(replica);
      errors.begun(replica);
      return replica;
    } catch (error) {
      clock?.remove();
      await link?.close();
      throw error;
    }
  }

  /** Returns a replica with the URL of the link through which its callers reach it. */
  private async linked(replica: Parley, database: OneWayLink): Promise<Parley> {
    const callers = await this.relay!.linkTo(replica.url);
    this.links.set(replica.pid, { database, callers });
    return { ...replica, url: callers.url };
  }

  private forget({ pid }: Parley): void {
    this.clocks.get(pid)?.remove();
    this.clocks.delete(pid);
    for (const link of Object.values(this.links.get(pid) ?? {}) as OneWayLink[]) void link.close();
    this.links.delete(pid);
  }
}
