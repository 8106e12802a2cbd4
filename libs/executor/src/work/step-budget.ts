import type { WorkPlace } from './node-room.js';
import type { WorkLimits } from './work-limits.js';

/** Token bucket of evaluation steps. It refills over time, up to one second's worth. Below 0, callers have to wait. */
class Bucket {
  private steps: number;

  constructor(
    private readonly rate: number,
    private filledAt: number,
  ) {
    this.steps = rate;
  }

  refillSteps(now: number): number {
    this.steps = Math.min(this.rate, this.steps + ((now - this.filledAt) * this.rate) / 1_000);
    this.filledAt = now;
    return this.steps;
  }

  useSteps(steps: number, now: number): void {
    this.steps = this.refillSteps(now) - steps;
  }

  /** Returns the milliseconds until the balance is 0. */
  pauseUntilPaid(now: number): number {
    return Math.max(0, -this.refillSteps(now) / this.rate) * 1_000;
  }

  isFull(now: number): boolean {
    return this.refillSteps(now) >= this.rate;
  }
}

/** Evaluation state of a run tree. */
interface StepTree {
  readonly root: string;
  /** Steps that the tree has been served, on its caller's scale. */
  had: number;
  /** Callbacks that continue steps on their turn. */
  readonly waiting: Set<() => void>;
  runs: number;
}

interface StepCaller {
  readonly account: string;
  readonly bucket: Bucket;
  readonly trees: Map<string, StepTree>;
  readonly waiting: Set<StepTree>;
  /** Steps of the tree that had the last turn. A new tree starts at this value. */
  had: number;
}

/** Clock of StepBudget, in milliseconds. */
export interface StepClock {
  now(): number;
  /** Calls back later. @returns a function that cancels the callback */
  callAfter(milliseconds: number, ring: () => void): () => void;
}

/**
 * Minimum cost of a millisecond, in seconds' worth of steps: evaluation takes at most a tenth of the time on any
 * machine.
 */
const SHARE_OF_TIME = 1 / 100;

/** Share of a second's worth above which a caller's balance exempts it from waiting for others. */
const LIGHT = 0.9;

/**
 * Spreads the evaluation of expressions over time. Steps are used first and paid for by waiting afterwards.
 * - A caller uses `callerSteps` per second, the process `processSteps`.
 * - A run over budget waits. Callers take turns; among a caller's run trees, the one that has used least continues.
 * - A caller that has hardly used any steps never waits for others.
 */
export class StepBudget {
  private readonly callers = new Map<string, StepCaller>();
  private readonly waiting = new Set<StepCaller>();
  private readonly all: Bucket;
  private forgetTimer: (() => void) | undefined;
  private usedSteps = 0;

  constructor(
    private readonly limits: Pick<WorkLimits, 'callerSteps' | 'processSteps'>,
    private readonly clock: StepClock = SYSTEM_CLOCK,
  ) {
    this.all = new Bucket(limits.processSteps, clock.now());
  }

  /** Total number of steps used. */
  get used(): number {
    return this.usedSteps;
  }

  /** Number of runs that wait. */
  get waitingRuns(): number {
    let sum = 0;
    for (const { waiting } of this.waiting) for (const tree of waiting) sum += tree.waiting.size;
    return sum;
  }

  /** Adds a run and returns its share. */
  joinRun({ account, root }: Pick<WorkPlace, 'account' | 'root'>): StepShare {
    const caller = this.callers.get(account) ?? this.newCaller(account);
    this.callers.set(account, caller);
    const tree = caller.trees.get(root) ?? { root, had: caller.had, waiting: new Set(), runs: 0 };
    caller.trees.set(root, tree);
    tree.runs += 1;
    return new StepShare(this, caller, tree);
  }

  useSteps({ bucket, had }: StepCaller, tree: StepTree, steps: number, milliseconds: number): void {
    const now = this.clock.now();
    const cost = Math.max(steps, milliseconds * this.limits.callerSteps * SHARE_OF_TIME);
    this.usedSteps += steps;
    tree.had = Math.max(tree.had, had) + cost;
    bucket.useSteps(cost, now);
    this.all.useSteps(cost, now);
  }

  /** Returns the milliseconds to wait; 0 if there is no need. */
  pauseOf({ bucket }: StepCaller): number {
    const now = this.clock.now();
    const isLight = bucket.refillSteps(now) >= LIGHT * this.limits.callerSteps;
    return Math.max(bucket.pauseUntilPaid(now), isLight ? 0 : this.all.pauseUntilPaid(now));
  }

  /** Calls back when it is the tree's turn. @returns a function that cancels the callback */
  queueRun(caller: StepCaller, tree: StepTree, goOn: () => void): () => void {
    tree.waiting.add(goOn);
    caller.waiting.add(tree);
    this.waiting.add(caller);
    // It may have a shorter wait than the ones before it.
    this.forgetTimer?.();
    this.forgetTimer = undefined;
    this.scheduleNext();
    return () => this.dequeueRun(caller, tree, goOn);
  }

  /** Removes a run, and its caller once the caller's bucket is full. */
  leaveTree(caller: StepCaller, tree: StepTree): void {
    tree.runs -= 1;
    if (tree.runs === 0) caller.trees.delete(tree.root);
    this.forgetIdle(caller);
  }

  private dequeueRun(caller: StepCaller, tree: StepTree, goOn: () => void): void {
    tree.waiting.delete(goOn);
    if (tree.waiting.size === 0) caller.waiting.delete(tree);
    if (caller.waiting.size === 0) this.waiting.delete(caller);
  }

  /** Continues the next run when it has steps. Its use is counted before the turn of another run. */
  private scheduleNext(milliseconds = this.nextPause()): void {
    if (this.forgetTimer !== undefined || this.waiting.size === 0) return;
    this.forgetTimer = this.clock.callAfter(milliseconds, () => {
      this.forgetTimer = undefined;
      this.letNextGoOn();
      this.scheduleNext();
    });
  }

  private nextPause(): number {
    let shortest = Infinity;
    for (const caller of this.waiting) shortest = Math.min(shortest, this.pauseOf(caller));
    return shortest;
  }

  private letNextGoOn(): void {
    for (const caller of this.waiting) {
      if (this.pauseOf(caller) > 0) continue;
      const tree = leastServed(caller);
      const [goOn] = tree?.waiting ?? [];
      if (tree === undefined || goOn === undefined) continue;
      caller.had = Math.max(caller.had, tree.had);
      this.waiting.delete(caller);
      this.waiting.add(caller);
      this.dequeueRun(caller, tree, goOn);
      return goOn();
    }
  }

  private newCaller(account: string): StepCaller {
    const bucket = new Bucket(this.limits.callerSteps, this.clock.now());
    return { account, bucket, trees: new Map(), waiting: new Set(), had: 0 };
  }

  /** Removes a caller without runs once its bucket is full: used steps also count for its next run. */
  private forgetIdle(caller: StepCaller): void {
    if (caller.trees.size > 0) return;
    const now = this.clock.now();
    if (caller.bucket.isFull(now)) {
      if (this.callers.get(caller.account) === caller) this.callers.delete(caller.account);
      return;
    }
    const full = caller.bucket.pauseUntilPaid(now) + FULL_MS;
    this.clock.callAfter(full, () => this.forgetIdle(caller));
  }
}

/** Milliseconds to refill from 0 to a second's worth. */
const FULL_MS = 1_000;

/** Share of StepBudget that one run has. */
export class StepShare {
  constructor(
    private readonly budget: StepBudget,
    private readonly caller: StepCaller,
    private readonly tree: StepTree,
  ) {}

  /** True if the balance is negative, so that the next evaluation has to wait. */
  get isOwing(): boolean {
    return this.budget.pauseOf(this.caller) > 0;
  }

  /** Counts used steps and the time they took; on a slow or busy machine the time dominates. */
  use(steps: number, milliseconds = 0): void {
    if (steps > 0) this.budget.useSteps(this.caller, this.tree, steps, milliseconds);
  }

  /**
   * Resolves when it is the run's turn to evaluate, immediately if nothing is owed.
   * @throws the signal's reason once it aborts
   */
  async whenPaid(signal: AbortSignal): Promise<void> {
    if (!this.isOwing) return;
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const abortWait = (): void => {
        forget();
        reject(signal.reason as Error);
      };
      const forget = this.budget.queueRun(this.caller, this.tree, () => {
        signal.removeEventListener('abort', abortWait);
        resolve();
      });
      signal.addEventListener('abort', abortWait, { once: true });
    });
  }

  /** Ends the share after the execution of the run. */
  leaveBudget(): void {
    this.budget.leaveTree(this.caller, this.tree);
  }
}

const SYSTEM_CLOCK: StepClock = {
  now: () => performance.now(),
  callAfter: (milliseconds, ring) => {
    const timer = setTimeout(ring, Math.ceil(milliseconds)).unref();
    return () => clearTimeout(timer);
  },
};

function leastServed({ waiting }: StepCaller): StepTree | undefined {
  let least: StepTree | undefined;
  for (const tree of waiting) if (least === undefined || tree.had < least.had) least = tree;
  return least;
}
