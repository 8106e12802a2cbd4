import type { ProcessStart } from '#libs/durable';
import type { CallChains, RunWork, WorkPlace } from '#libs/executor';
import { runEventNote, type StreamResponse } from '#libs/protocol';
import { InFlight } from '#libs/service';
import { type Frontier, isOwn, type NodeSets, type Plan, type RunOutcome } from './frontier.js';
import type { NodeInstance } from './node-instance.js';
import { answeredNodes } from './run-questions.js';
import type { RunState } from './run-state.js';
import { runParked } from './run-steps.js';
import type { Timer } from './timers.js';

/** Longest wait during which the run stays in its process, in milliseconds. A longer wait ends the turn (`parked`). */
const SHORT_WAIT = 30_000;

/**
 * Plans the next steps of a run. After an unhandled failure no node starts and running nodes are canceled, unless the
 * workflow has `onFailure: "continue"`. The function is pure: it reads only folded state. Its cost is proportional to
 * the plan.
 * @param now in milliseconds of the epoch
 */
export function planNext(state: RunState, now: number): Plan {
  const { frontier } = state;
  if (frontier.ending) return planEnding(frontier, now);
  const wakeAt = frontier.timers.nextAfter(now);
  const common = { stop: frontier.nodesToCancel, report: frontier.unreportedSkips };
  if (frontier.isFailingFast) return planOutcome({ ...common, ...NOTHING }, 'failed', state);
  const plan = {
    ...common,
    ...planDueWork(frontier, now),
    answer: findAnswered(state),
    ...(wakeAt !== undefined && { wakeAt }),
  };
  if (frontier.isBusy) return plan;
  if (frontier.hasNodeWithStatus('input-required')) return planOutcome(plan, 'input-required', state);
  if (frontier.timers.listDue(now + SHORT_WAIT).some(({ kind }) => GOES_ON.has(kind))) return plan;
  if (frontier.timers.ofNodes > 0) return planOutcome(plan, 'parked', state);
  return planOutcome(plan, frontier.isFailing ? 'failed' : 'completed', state);
}

/**
 * Plans the `onExit` nodes after the outcome of the run is known, within their time limit. A question of such a node is
 * due at once, so that the node fails.
 */
function planEnding(frontier: Frontier, now: number): Plan {
  const isOver = frontier.timers.listDue(now).some(({ kind }) => kind === 'exit');
  const report = frontier.unreportedSkips;
  if (isOver) return planOutcome({ ...NOTHING, stop: frontier.active, report }, frontier.ending);
  const wakeAt = frontier.timers.nextAfter(now);
  const { fire, ...others } = planDueWork(frontier, now);
  const unheard = frontier.waiting.map((node): Timer => ({ kind: 'question', at: now, node }));
  const common = { stop: [], report, answer: [], ...(wakeAt !== undefined && { wakeAt }) };
  const plan = { ...common, ...others, fire: [...fire, ...unheard] };
  return frontier.active.length > 0 || frontier.isBusy ? plan : planOutcome(plan, frontier.ending);
}

/** Returns pending decisions, due timers and nodes to start. */
function planDueWork(frontier: Frontier, now: number): Pick<Plan, 'decide' | 'fire' | 'start'> {
  const due = frontier.timers.listDue(now);
  const again = due.flatMap(({ kind, node }) => (STARTS.has(kind) && node ? [node] : []));
  return {
    decide: frontier.pendingDecisions,
    fire: due.filter(({ kind }) => !STARTS.has(kind)),
    start: frontier.selectNodesToStart(again),
  };
}

/** Timers after which a node starts. */
const STARTS: ReadonlySet<Timer['kind']> = new Set(['retry', 'loop']);
/** Timers after which a run continues without an answer. */
const GOES_ON: ReadonlySet<Timer['kind']> = new Set([...STARTS, 'wait']);
const NOTHING = { decide: [], answer: [], fire: [], start: [] };

/**
 * Sets the outcome of a plan that has nothing else left to do. If the workflow has `onExit` nodes, a final outcome
 * becomes the decision `ending` first.
 */
function planOutcome(plan: Plan, outcome: RunOutcome | undefined, state?: RunState): Plan {
  const { stop, report, decide, fire, start } = plan;
  if ([stop, report, decide, fire, start].some((list) => list.length > 0) || outcome === undefined) return plan;
  const isLast = outcome === 'completed' || outcome === 'failed';
  const hasExits = state !== undefined && state.graph.exits.size > 0;
  if (isLast && hasExits) return { ...plan, decide: [{ kind: 'ending', outcome }] };
  return { ...plan, outcome };
}

function findAnswered({ received, undelivered, frontier }: RunState): NodeInstance[] {
  if (received === undefined || !undelivered) return [];
  const waiting = frontier.waiting.filter((node) => !frontier.sets.withdrawn.has(node));
  return answeredNodes(received, waiting);
}

/**
 * True if a cancel of the run has begun to cancel its nodes. Such a run never completes: the cancel resumes after a
 * crash, even before it is requested again.
 */
export function isBeingCanceled({ frontier }: RunState): boolean {
  return frontier.isBeingCanceled;
}

/**
 * Counts the active nodes of one run against the limit that all runs of the process share. A node is active while its
 * agent has been called and has not answered. Nodes that ask, wait for a time, process a list, or whose Task is a
 * parked run do not count. `NodeRoom` (libs/executor) divides the limit among runs; `parallel` limits the nodes of a
 * run by its definition (`Frontier.selectNodesToStart`).
 */
export class RunRoom {
  /** Nodes whose Task is a parked run. */
  private readonly parked = new Set<NodeInstance>();

  constructor(
    private readonly work: Pick<RunWork, 'nodes'>,
    private readonly sets: Pick<NodeSets, 'busy'>,
  ) {}

  /** Returns the nodes that may start now within the limit, in their order. The others have to wait. */
  admitNodes(nodes: readonly NodeInstance[]): NodeInstance[] {
    this.countBusyNodes();
    const calling = nodes.filter(isCalled).length;
    let room = this.work.nodes.reserveNodes(calling);
    return room === calling ? [...nodes] : nodes.filter((node) => !isCalled(node) || room-- > 0);
  }

  /** Notes whether the Task of a node is a parked run, from an event of that Task. */
  receiveReport(node: NodeInstance, response: StreamResponse): void {
    if (!('statusUpdate' in response)) return;
    const isParked = runEventNote(response.statusUpdate.metadata)?.type === runParked.type;
    if (isParked === this.parked.has(node)) return;
    if (isParked) this.parked.add(node);
    else this.parked.delete(node);
    this.countBusyNodes();
  }

  private countBusyNodes(): void {
    const { busy } = this.sets;
    for (const node of this.parked) if (!busy.has(node)) this.parked.delete(node);
    let nodes = -this.parked.size;
    for (const node of busy) if (isCalled(node)) nodes += 1;
    this.work.nodes.occupyNodes(nodes);
  }
}

/** Returns the account, the root run and the nesting level to which a run's work is charged, from its call chain. */
export function runWorkPlace(
  chains: CallChains,
  { context, links }: Pick<ProcessStart, 'context' | 'links'>,
): WorkPlace {
  const { root = context.taskId, depth: level } = chains.findPlace(links);
  return { account: InFlight.accountOf(context.call.scope), root, level };
}

/** True if an agent is called for a node when it starts. */
function isCalled(node: NodeInstance): boolean {
  return node.each === undefined && !isOwn(node);
}

/** Maximum time for which a run works before it yields to the event loop, in milliseconds. */
const LONGEST_STRETCH = 10;

/** Yields to the event loop between pieces of work that together may take long. */
export class EventLoopYield {
  private since = performance.now();

  /** @param evaluates true for a run with expressions: it also waits for the evaluation steps that it owes */
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

/** A step of a run that yields no event: it only waits until the run may evaluate expressions again. */
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
