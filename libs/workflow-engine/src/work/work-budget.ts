import { Module } from '@nestjs/common';
import { AppConfig, InFlight, LoopShares, Metrics } from '#libs/service';
import { NodeRoom, type NodeShare, type WorkLimits, workLimits, type WorkPlace } from './node-room.js';

/** Maximum milliseconds until waiting runs are checked again. */
const LONGEST_PAUSE_MS = 20;

/** Callbacks of a caller's waiting runs, the longest-waiting first. */
type Line = (() => void)[];

/**
 * Accounts for the time that each caller uses on the event loop. LoopShares implements it; a "stretch" is uninterrupted
 * work.
 */
interface StretchShares {
  /** Returns the milliseconds until costly work of a caller may continue; 0 if it may continue now. */
  delayMs(account: string): number;
  /** Charges a caller for milliseconds of the event loop. */
  chargeCaller(account: string, ms: number): void;
}

/**
 * Decides when runs that have used up their time on the event loop continue.
 * - One run continues per cycle of the event loop, so connections and the database wait at most for one stretch
 * (uninterrupted work) of a run.
 * - Callers alternate; the runs of one caller continue in order.
 * - Each stretch is charged to its caller in LoopShares. The caller's runs wait while the caller owes time.
 */
export class RunTurns {
  /** Queues by caller's account, the next caller first. */
  private readonly lines = new Map<string, Line>();

  constructor(private readonly shares: StretchShares = UNLIMITED) {}

  /** Resolves when the run may continue on the event loop, or when the signal aborts. Never rejects. */
  next(account: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const resumeRun = (): void => {
        signal.removeEventListener('abort', resumeRun);
        resolve();
      };
      signal.addEventListener('abort', resumeRun);
      this.add(account, resumeRun);
    });
  }

  private add(account: string, resumeRun: () => void): void {
    if (this.lines.size === 0) setImmediate(this.letNextGoOn);
    const line = this.lines.get(account);
    if (line) line.push(resumeRun);
    else this.lines.set(account, [resumeRun]);
  }

  private readonly letNextGoOn = (): void => {
    let wait = Infinity;
    for (const [account, line] of this.lines) {
      const delay = this.shares.delayMs(account);
      if (delay <= 0) return this.letGoOn(account, line);
      wait = Math.min(wait, delay);
    }
    // Meanwhile a run of a caller that owes nothing may join, and the waiting runs may be aborted.
    if (this.lines.size > 0) setTimeout(this.letNextGoOn, Math.min(Math.ceil(wait), LONGEST_PAUSE_MS)).unref();
  };

  private letGoOn(account: string, line: Line): void {
    const resumeRun = line.shift();
    this.lines.delete(account);
    if (line.length > 0) this.lines.set(account, line);
    if (this.lines.size > 0) setImmediate(this.letNextGoOn);
    const start = performance.now();
    resumeRun?.();
    // Ticks that a microtask queues run after all resolved promises: by then the stretch has ended.
    queueMicrotask(() => process.nextTick(() => this.shares.chargeCaller(account, performance.now() - start)));
  }
}

const UNLIMITED: StretchShares = { delayMs: () => 0, chargeCaller: () => undefined };

/**
 * Token bucket of evaluation steps (rate limit). It refills over time, up to the steps of one second. Use may make its
 * balance negative; the caller then waits until the balance is 0.
 */
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

  /** Returns the milliseconds until a negative balance is refilled to 0; 0 for any other balance. */
  pauseUntilPaid(now: number): number {
    return Math.max(0, -this.refillSteps(now) / this.rate) * 1_000;
  }

  isFull(now: number): boolean {
    return this.refillSteps(now) >= this.rate;
  }
}

/** Use of evaluation steps by one run tree: a run with all runs that it has started. */
interface StepTree {
  readonly root: string;
  /**
   * Evaluation steps of the tree so far, plus the value of `StepCaller.had` when the tree was added. Of the waiting
   * trees, the one with the smallest value evaluates next.
   */
  had: number;
  /** Callbacks of the tree's waiting runs. */
  readonly waiting: Set<() => void>;
  runs: number;
}

interface StepCaller {
  readonly account: string;
  readonly bucket: Bucket;
  readonly trees: Map<string, StepTree>;
  readonly waiting: Set<StepTree>;
  /**
   * Value of `StepTree.had` of the tree that evaluated last. A new tree starts with this value, so that it gets no
   * advantage over older trees.
   */
  had: number;
}

/** Clock of StepBudget, in milliseconds. */
export interface StepClock {
  now(): number;
  /** Calls `ring` once, after the given milliseconds. @returns a function that cancels the call */
  callAfter(milliseconds: number, ring: () => void): () => void;
}

/**
 * Minimum cost of one millisecond of evaluation, as a fraction of the steps that a caller gets per second. A caller
 * therefore evaluates for at most a tenth of the time, even on a slow machine.
 */
const SHARE_OF_TIME = 1 / 100;

/** Fraction of the steps of one second. A caller with a higher balance never waits for other callers. */
const LIGHT = 0.9;

/**
 * Spreads the evaluation of CEL expressions over time (rate limit). A run may evaluate first; it waits afterwards until
 * its caller's balance is no longer negative.
 * - A caller uses `callerSteps` per second, the process `processSteps`.
 * - A run over budget waits. Callers take turns; among a caller's run trees, the tree that has used the fewest steps
 *   continues.
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

  /** Total number of evaluation steps used in this process. */
  get used(): number {
    return this.usedSteps;
  }

  /** Number of runs that wait. */
  get waitingRuns(): number {
    let sum = 0;
    for (const { waiting } of this.waiting) for (const tree of waiting) sum += tree.waiting.size;
    return sum;
  }

  /** Adds a run. Returns the object with which the run counts and waits for evaluation steps. */
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

  /** Returns the milliseconds that a caller has to wait before the next evaluation; 0 if there is no need. */
  pauseOf({ bucket }: StepCaller): number {
    const now = this.clock.now();
    const isLight = bucket.refillSteps(now) >= LIGHT * this.limits.callerSteps;
    return Math.max(bucket.pauseUntilPaid(now), isLight ? 0 : this.all.pauseUntilPaid(now));
  }

  /**
   * Queues a run, and calls `resumeRun` once when it is the turn of the run's tree.
   * @returns a function that cancels the call
   */
  queueRun(caller: StepCaller, tree: StepTree, resumeRun: () => void): () => void {
    tree.waiting.add(resumeRun);
    caller.waiting.add(tree);
    this.waiting.add(caller);
    // The new run may have a shorter wait than the runs before it.
    this.forgetTimer?.();
    this.forgetTimer = undefined;
    this.scheduleNext();
    return () => this.dequeueRun(caller, tree, resumeRun);
  }

  /** Removes a run from its tree. Also removes the caller, once the caller has no runs and a full bucket. */
  leaveTree(caller: StepCaller, tree: StepTree): void {
    tree.runs -= 1;
    if (tree.runs === 0) caller.trees.delete(tree.root);
    this.forgetIdle(caller);
  }

  private dequeueRun(caller: StepCaller, tree: StepTree, resumeRun: () => void): void {
    tree.waiting.delete(resumeRun);
    if (tree.waiting.size === 0) caller.waiting.delete(tree);
    if (caller.waiting.size === 0) this.waiting.delete(caller);
  }

  /**
   * Sets the timer that resumes the next run once that run's caller has steps. The steps of a resumed run are counted
   * before the next run is resumed.
   */
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
      const [resumeRun] = tree?.waiting ?? [];
      if (tree === undefined || resumeRun === undefined) continue;
      caller.had = Math.max(caller.had, tree.had);
      this.waiting.delete(caller);
      this.waiting.add(caller);
      this.dequeueRun(caller, tree, resumeRun);
      return resumeRun();
    }
  }

  private newCaller(account: string): StepCaller {
    const bucket = new Bucket(this.limits.callerSteps, this.clock.now());
    return { account, bucket, trees: new Map(), waiting: new Set(), had: 0 };
  }

  /**
   * Removes a caller without runs once its bucket is full. Until then the caller is kept, so that its next run pays for
   * the steps that were used.
   */
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

/** Milliseconds in which a bucket refills from 0 to one second's worth. */
const FULL_MS = 1_000;

/** Part of StepBudget that one run uses: counts its evaluation steps, and makes the run wait when they are used up. */
export class StepShare {
  constructor(
    private readonly budget: StepBudget,
    private readonly caller: StepCaller,
    private readonly tree: StepTree,
  ) {}

  /** True if the caller has a negative balance of steps, and so has to wait before the next evaluation. */
  get isOwing(): boolean {
    return this.budget.pauseOf(this.caller) > 0;
  }

  /** Counts used evaluation steps, or the milliseconds they took if those cost more (SHARE_OF_TIME). */
  use(steps: number, milliseconds = 0): void {
    if (steps > 0) this.budget.useSteps(this.caller, this.tree, steps, milliseconds);
  }

  /**
   * Resolves when the run may evaluate expressions; immediately if its caller's balance is not negative.
   * @throws the reason of the signal if it aborts during the wait
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

  /** Removes the run from the budget after its execution. */
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

/**
 * Part of WorkBudget that one execution of a run uses: its running nodes, evaluation steps and time on the event loop.
 */
export interface RunWork {
  readonly nodes: NodeShare;
  readonly steps: StepShare;
  /** Resolves when the run may continue after it has used up its time, or when the signal aborts. */
  nextTurn(signal: AbortSignal): Promise<void>;
  /** Releases this part of the budget after the execution of the run. */
  leave(): void;
}

/**
 * Budget that the runs of this process share. It has three parts:
 * - `NodeRoom` limits running nodes.
 * - `StepBudget` limits the evaluation steps of CEL expressions.
 * - `RunTurns` takes turns on the event loop; LoopShares accounts for the time of each caller.
 *
 * Use is charged to the root of the run tree, to its caller and to the process. Work beyond the budget waits. Cancels
 * and answers need no budget.
 */
export class WorkBudget {
  readonly nodes: NodeRoom;
  readonly steps: StepBudget;
  private readonly turns: RunTurns;

  /** @param isFull true if the memory used by a caller, or by the process, leaves no room for more work */
  constructor(limits: WorkLimits, isFull?: (account: string) => boolean, shares?: StretchShares) {
    this.turns = new RunTurns(shares);
    this.nodes = new NodeRoom(limits, isFull);
    this.steps = new StepBudget(limits);
  }

  /**
   * Adds the execution of a run, and returns the part of the budget that the execution uses.
   * @param onRoom called when nodes may start that had to wait when they were requested
   */
  joinRun(place: WorkPlace, onRoom: () => void): RunWork {
    const nodes = this.nodes.joinRun(place, onRoom);
    const steps = this.steps.joinRun(place);
    const leave = (): void => {
      nodes.leaveRoom();
      steps.leaveBudget();
    };
    return { nodes, steps, nextTurn: (signal) => this.turns.next(place.account, signal), leave };
  }
}

/** Creates the budget of the process, and metrics of its use. */
function workBudget({ memory }: AppConfig, inFlight: InFlight, metrics: Metrics, shares: LoopShares): WorkBudget {
  const budget = new WorkBudget(workLimits(memory.nodesAtWork), (account) => inFlight.isFull(account), shares);
  const { nodes, steps } = budget;
  metrics.gauge('parley_nodes_at_work', 'Nodes of runs at work in this replica', [], () => nodes.atWork);
  metrics.gauge(
    'parley_nodes_waiting',
    'Nodes of runs that wait for room in this replica',
    [],
    () => nodes.waitingNodes,
  );
  metrics.gauge(
    'parley_evaluations_waiting',
    'Runs whose next expression waits for its turn',
    [],
    () => steps.waitingRuns,
  );
  return budget;
}

/** Module of the WorkBudget of the process. Needs ServiceModule. */
@Module({
  providers: [{ provide: WorkBudget, inject: [AppConfig, InFlight, Metrics, LoopShares], useFactory: workBudget }],
  exports: [WorkBudget],
})
export class WorkBudgetModule {}

/** Maximum milliseconds that a run works before it yields to the event loop. */
const LONGEST_STRETCH = 10;

/** Yields to the event loop between pieces of work that together may take long. */
export class EventLoopYield {
  private since = performance.now();

  /**
   * @param evaluates true for a run with expressions. Such a run also yields, and waits, while it has used too many
   *   evaluation steps (StepBudget)
   */
  constructor(
    private readonly work: Pick<RunWork, 'steps' | 'nextTurn'>,
    private readonly evaluates: boolean,
    private readonly signal: AbortSignal,
  ) {}

  /** True if the run should yield now. */
  get isDue(): boolean {
    return performance.now() - this.since >= LONGEST_STRETCH || (this.evaluates && this.work.steps.isOwing);
  }

  /** Yields to the event loop. @throws the reason of the signal if it is aborted during the wait */
  async yieldTurn(): Promise<void> {
    await this.work.nextTurn(this.signal);
    if (this.evaluates) await this.work.steps.whenPaid(this.signal);
    this.since = performance.now();
  }
}

/** Step of a run that yields no event. It only waits until the run may evaluate expressions again (see StepBudget). */
export class EvaluationTurn implements AsyncIterable<never> {
  constructor(
    private readonly steps: RunWork['steps'],
    private readonly signal: AbortSignal,
  ) {}

  [Symbol.asyncIterator](): AsyncIterator<never, undefined> {
    const { steps, signal } = this;
    return {
      next: async () => {
        await steps.whenPaid(signal);
        return { done: true, value: undefined };
      },
    };
  }
}
