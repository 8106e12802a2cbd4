import { setTimeout as delay } from 'node:timers/promises';
import type { PlannedFault } from './fault-plan.js';
import type { FaultStage } from './faults/fault-kind.js';

/** Applies the planned faults to the replicas and their database. */
export class FaultDriver {
  /** Number of faults by kind, without those that found nothing to break. */
  readonly done = new Map<string, number>();
  private readonly open = new Set<Promise<void>>();

  constructor(
    private readonly stage: FaultStage,
    private readonly say: (line: string) => void,
  ) {}

  /**
   * Applies a plan; resolves when the plan or its time is over and everything broken has recovered. If the machine
   * cannot keep up with the plan, its last faults are omitted.
   */
  async follow(plan: readonly PlannedFault[], lengthMs: number, signal: AbortSignal): Promise<void> {
    const begun = performance.now();
    for (const fault of plan) {
      await delay(Math.max(0, begun + fault.atMs - performance.now()), undefined, { signal }).catch(() => undefined);
      if (signal.aborted || performance.now() - begun > lengthMs) break;
      const work = this.cause(fault).finally(() => this.open.delete(work));
      this.open.add(work);
      if (!fault.kind.beside) await work;
    }
    await Promise.all(this.open);
  }

  private async cause({ kind, title, atMs, target, cause }: PlannedFault): Promise<void> {
    this.say(`${(atMs / 1000).toFixed(1)} s: ${title}`);
    if (await cause(this.stage, target)) this.done.set(kind.name, (this.done.get(kind.name) ?? 0) + 1);
    else this.say(`${(atMs / 1000).toFixed(1)} s: ${kind.name} found nothing to break`);
  }
}
