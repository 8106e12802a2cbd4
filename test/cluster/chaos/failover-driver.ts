import { setTimeout as delay } from 'node:timers/promises';
import type { PatroniCluster } from '../../support/patroni/patroni-cluster.js';
import type { PatroniNode } from '../../support/patroni/patroni-node.js';
import { SeededRandom } from '../../support/seeded-random.js';
import { until } from '../../support/until.js';

/**
 * Way in which a leader is lost: SIGKILL of PostgreSQL and Patroni, SIGSTOP of both for longer than the TTL, or an
 * orderly handover.
 */
export type Loss = 'killed' | 'frozen' | 'handed over';

export interface Failover {
  loss: Loss;
  /** Time at which the leader was lost. */
  lostAt: Date;
  /** Time at which the balancer led to the next leader. */
  leaderAt: Date;
}

/** Ways of loss in the order in which they are used: half are kills, and a quarter are orderly. */
const LOSSES: readonly Loss[] = ['killed', 'frozen', 'killed', 'handed over'];
/**
 * Seconds (minimum and maximum) of normal work between two losses, and from the start of a new leader until the killed
 * or frozen node returns.
 */
const WORK_SECONDS = [2, 8] as const;
const RETURN_SECONDS = [0, 4] as const;
const REPLACED = { within: 600_000, what: 'the next leader' };

/**
 * Removes the leader of a PostgreSQL cluster again and again, each time when its standby has everything that was
 * committed.
 */
export class FailoverDriver {
  readonly done: Failover[] = [];
  private readonly random: SeededRandom;

  constructor(
    private readonly cluster: PatroniCluster,
    seed: number,
    private readonly say: (line: string) => void,
  ) {
    this.random = new SeededRandom(seed);
  }

  /** Resolves after so many losses or so much time, when both nodes work again. */
  async follow(most: number, lengthMs: number, signal: AbortSignal): Promise<void> {
    const deadline = performance.now() + lengthMs;
    let expected: string | undefined;
    while (this.done.length < most) {
      const { leader, standby } = await this.cluster.replicated(this.say);
      if (expected !== undefined && leader.name !== expected) this.say(`${leader.name} leads, instead of ${expected}`);
      expected = standby.name;
      await delay(this.seconds(WORK_SECONDS), undefined, { signal }).catch(() => undefined);
      if (signal.aborted || performance.now() > deadline) return;
      await this.replace(this.random.pick(LOSSES), leader, standby);
    }
    await this.cluster.replicated(this.say);
  }

  private async replace(loss: Loss, leader: PatroniNode, standby: PatroniNode): Promise<void> {
    const lostAt = new Date();
    if (loss === 'killed') leader.kill();
    else if (loss === 'frozen') leader.freeze();
    else await leader.handOver(standby);
    await until(() => standby.leads(), REPLACED);
    await this.cluster.writable();
    const leaderAt = new Date();
    this.done.push({ loss, lostAt, leaderAt });
    const seconds = ((leaderAt.getTime() - lostAt.getTime()) / 1000).toFixed(1);
    this.say(`${this.done.length}: ${leader.name} was ${loss}, ${standby.name} leads after ${seconds} s`);
    if (loss === 'handed over') return;
    await delay(this.seconds(RETURN_SECONDS));
    if (loss === 'killed') await leader.start();
    else await leader.thaw();
  }

  private seconds([from, to]: readonly [number, number]): number {
    return this.random.between(from * 1000, to * 1000);
  }
}
