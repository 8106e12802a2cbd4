import { Injectable } from '@nestjs/common';
import type { RequestContext } from '#libs/agents';
import type { ProcessServices, ProcessStart, RemoteContexts } from '#libs/durable';
import type { AppliedLimit, LimitRequest, SlotOutcome } from '#libs/limits';
import { type CallCancelOutcome, isWaitingState, runEventNote, type StreamResponse } from '#libs/protocol';
import type { ContentLimits, Metrics } from '#libs/service';
import {
  eventBytes,
  eventsAfter,
  FoldMemory,
  heapBytes,
  type KeptFold,
  KeptFolds,
  type LogAdmission,
  noteOf,
  placeOfEvent,
  type RecordedEvent,
  type RunBudgets,
  type TaskEvent,
  type TaskHeader,
  type TaskScope,
  TaskStore,
  wholeLog,
} from '#libs/tasks';
import type { ConcurrencyConfig, WorkflowDefinition, WorkflowRevision } from '#libs/workflow-definition';
import { isOwn, type NodeSets } from '../state/frontier.js';
import type { NodeInstance } from '../state/node-instance.js';
import type { RunFacts } from '../state/run-progress.js';
import { RunState } from '../state/run-state.js';
import { runParked } from '../state/run-steps.js';
import type { RunClock } from '../state/timers.js';
import type { RunWork, WorkBudget } from '../work/work-budget.js';

/** Outcome of a cancel at a node's agent that became known only after the run had ended. */
export interface LaterOutcome {
  runId: string;
  node: string;
  attempt: number;
  outcome: CallCancelOutcome;
}

/** A Task that a run has started at an agent that is not called in this process. */
export interface RunChild {
  runId: string;
  /** Name of the node's instance. */
  nodeId: string;
  attempt: number;
  taskId: string;
  agentUrl: string;
}

/**
 * Question that a remote Task no longer asks, although the run has sent no answer: the Task has resumed or ended for
 * another reason.
 */
export interface MovedOnChild {
  /** Name of the node's instance. */
  nodeId: string;
  /** Identifies the question of the node, see `questionId`. */
  asked: string;
}

/**
 * Stores the Task ids of remote children (Tasks at agents that are not called in this process), so that a recovered run
 * finds them.
 */
export abstract class RunChildStore {
  /**
   * Stores the Task of a remote child. Resolves when the child is durable. If a Task is already stored for the same
   * run, node and attempt, that Task stays and nothing changes.
   */
  abstract rememberChild(child: RunChild): Promise<void>;

  /** Returns the stored children of a run. */
  abstract listChildren(runId: string): Promise<RunChild[]>;

  /**
   * Returns the questions of a run that remote Tasks no longer ask, although the run has sent no answer: these Tasks
   * have resumed or ended for another reason.
   */
  abstract movedOn(runId: string): Promise<MovedOnChild[]>;
}

/** Original run whose results a rerun reuses, with its definition and log. */
export interface RerunOrigin {
  workflow: WorkflowRevision;
  /** Complete event log of the run. */
  log: readonly TaskEvent[];
}

/** Values of the metric label `outcome`, by the type of the run step that ends a node. */
const OUTCOMES: Readonly<Record<string, string>> = {
  'node.completed': 'completed',
  'node.error': 'failed',
  'node.canceled': 'canceled',
};

/** Measures the duration of nodes, from the start of their last attempt to their end, for runs of this replica. */
export class NodeMetrics {
  private readonly durations;

  constructor(metrics: Metrics) {
    this.durations = metrics.histogram(
      'parley_node_duration_seconds',
      "From the start of a node's last attempt to its end, with all that it waited for; of runs of this replica",
      ['type', 'outcome'],
    );
  }

  /**
   * Measures a node's duration if the event ends the node. Call it for every recorded event, after the run has applied
   * that event.
   */
  observeEvent(event: TaskEvent, run: Pick<RunFacts, 'findInstance'>): void {
    const note = noteOf(event);
    if (note?.node_id === undefined) return;
    const outcome = OUTCOMES[note.type];
    if (outcome === undefined) return;
    const { type, startedAt, finishedAt } = run.findInstance(note.instance ?? note.node_id) ?? {};
    if (type === undefined || startedAt === undefined || finishedAt === undefined) return;
    this.durations.observe({ type, outcome }, Math.max(0, Date.parse(finishedAt) - Date.parse(startedAt)) / 1000);
  }
}

/** Estimated heap bytes of a node's instance without its content, including its entries in the Frontier. */
const HEAP_PER_INSTANCE = 2 * 1024;

/**
 * Estimates the heap bytes of run states; an estimate may be too high, but is rarely too low. Values from the log never
 * change, so the size of each is computed once. A later estimate of the same run computes only the sizes of new values,
 * and visits each instance.
 */
class RunWeights {
  private readonly known = new WeakMap<object, number>();

  /** Returns the estimated heap bytes of a run's state. @param first first event of the log */
  weighRun(state: RunState, first: TaskEvent | undefined): number {
    const { inputs, text = '', received, results, error, children } = state;
    let weight = this.ofAll([inputs, received, first, error, ...results, ...(children ?? [])]) + heapBytes(text);
    for (const node of state.instances.values()) weight += HEAP_PER_INSTANCE + this.ofNode(node);
    return weight;
  }

  private ofNode({ artifacts, question, answered, answer, asks, refused, failure, error, each }: NodeInstance): number {
    const texts = error === undefined ? 0 : heapBytes(error);
    return texts + this.ofAll([...artifacts, question, answered, answer, asks, refused, failure, each?.items]);
  }

  private ofAll(values: readonly (object | undefined)[]): number {
    return values.reduce((sum: number, value) => sum + (value ? this.ofValue(value) : 0), 0);
  }

  private ofValue(value: object): number {
    const known = this.known.get(value);
    if (known !== undefined) return known;
    const weight = heapBytes(value);
    this.known.set(value, weight);
    return weight;
  }
}

/** Size of a log in bytes below which applying its events is as fast as the lookup of a cached state. */
const SHORT_LOG = 64 * 1024;

/** State of a run after the events of its log have been applied. */
export interface RunFold {
  readonly state: RunState;
  /** First event of the log: the Task of the run; `undefined` for an empty log. */
  readonly first: TaskEvent | undefined;
}

/** Arguments for starting an execution of a run. */
export interface RunStart extends Pick<ProcessStart, 'context' | 'links'> {
  readonly fold: RunFold;
}

/** Cached state of a run, and the size of the run's log in bytes. */
interface SizedFold extends RunFold {
  readonly bytes: number;
}

/**
 * Caches the states of waiting runs in the memory of this replica. With a follow-up Message, only the new events of the
 * log are then read and applied. A cached state is called a fold.
 * - Each use checks that the log still contains the last event of the fold. Otherwise, or without a fold, the whole log
 *   is applied.
 * - A fold contains only durable events.
 * - `FoldMemory` limits the memory of all folds.
 */
@Injectable()
export class RunFolds {
  protected readonly kept: KeptFolds<SizedFold>;
  private readonly weights = new RunWeights();
  /** Minimum size of a log in bytes. The state of a run with a smaller log is not cached. */
  protected readonly shortest: number = SHORT_LOG;

  constructor(
    private readonly tasks: TaskStore,
    memory: FoldMemory,
  ) {
    this.kept = new KeptFolds(memory);
  }

  /**
   * Removes the state of a run from the cache and returns it, brought up to the end of its log, for an execution.
   * `undefined` if the whole log must be read.
   * @throws errors of the read
   */
  async takeFold(context: RequestContext, definition: WorkflowDefinition): Promise<RunFold | undefined> {
    const kept = this.kept.takeFold(context.taskId);
    if (kept?.state.state.definition !== definition) return undefined;
    const later = await context.places?.readAfter(kept.place);
    if (!later) return undefined;
    for (const { event } of later) kept.state.state.apply(event);
    return kept.state;
  }

  /**
   * Caches the state of a waiting run once the events of the run are durable. Never fails.
   * @param fold state that is not modified afterwards
   */
  async keepFold({ taskId, call: { scope }, places }: RequestContext, fold: RunFold): Promise<void> {
    const last = await places?.readLast().catch(() => undefined);
    // A fold with an event that the log lacks would differ from the log.
    if (last?.place.sequence !== fold.state.sequence) return;
    this.storeFold({ taskId, ...scope }, { state: { ...fold, bytes: last.bytes }, place: last.place });
  }

  /**
   * Returns the state of a run at `header.lastSequence`, from the cache if possible. Use the state before you await
   * anything else, because an execution may modify it.
   * @param admission reserves memory for reading a whole log on behalf of a caller; absent for an execution
   * @throws errors of the read
   */
  async readRunState(header: TaskHeader, definition: WorkflowDefinition, admission?: LogAdmission): Promise<RunState> {
    const { taskId, lastSequence, tenant, owner } = header;
    const readLogEvents = (after: number, limit: number): Promise<RecordedEvent[]> =>
      this.tasks.readEvents(taskId, after, limit, { tenant, owner });
    const kept = this.kept.get(taskId);
    if (kept?.state.state.definition === definition) {
      const later = await eventsAfter(readLogEvents, kept.place, lastSequence);
      // An execution may have taken or advanced the fold meanwhile.
      if (later && this.kept.get(taskId) === kept) return this.bringForward(header, kept, later);
    }
    const log = admission ? await wholeLog(this.tasks, header, admission) : await readLogEvents(0, lastSequence);
    const state = RunState.fromEvents(
      definition,
      log.map(({ event }) => event),
    );
    const last = log.at(-1);
    if (last && isWaitingState(header.state))
      this.storeFold(header, {
        state: { state, first: log[0]?.event, bytes: sumEventBytes(log) },
        place: placeOfEvent(last),
      });
    return state;
  }

  private bringForward(header: TaskHeader, kept: KeptFold<SizedFold>, later: readonly RecordedEvent[]): RunState {
    const last = later.at(-1);
    const { state, first, bytes } = kept.state;
    if (last === undefined) return state;
    this.kept.takeFold(header.taskId);
    for (const { event } of later) state.apply(event);
    this.storeFold(header, { state: { state, first, bytes: bytes + sumEventBytes(later) }, place: placeOfEvent(last) });
    return state;
  }

  private storeFold(of: Pick<TaskHeader, 'taskId' | 'tenant' | 'owner'>, fold: KeptFold<SizedFold>): void {
    const { state } = fold;
    if (state.bytes >= this.shortest) this.kept.keepFold(of, this.weights.weighRun(state.state, state.first), fold);
  }
}

function sumEventBytes(events: readonly RecordedEvent[]): number {
  return events.reduce((sum, { event, json }) => sum + eventBytes(event, json), 0);
}

/** Run that needs a slot: its workflow, the limit, and the value of the limit's key. */
export interface SlotRequest {
  workflow: string;
  /** Value of `concurrency.key`. */
  key: string;
  concurrency: ConcurrencyConfig;
  /** Deadline of the run, at which it is woken even without a slot. */
  until?: Date;
}

/** Services and limits of the process that every run needs. */
export interface RunServices extends ProcessServices {
  tasks: Pick<TaskStore, 'recordedChildren' | 'readHeaders' | 'loadTask' | 'readEvents'>;
  children: RunChildStore;
  folds: Pick<RunFolds, 'takeFold' | 'keepFold' | 'readRunState'>;
  contexts: RemoteContexts;
  cancels: {
    /**
     * Stores an outcome. Resolves when the outcome is durable. If one is already stored for the same run, node and
     * attempt, nothing changes.
     */
    recordOutcome(outcome: LaterOutcome): Promise<void>;
  };
  origins: {
    /** Returns an original run; `undefined` if the caller may not read it, or it is no longer stored. */
    findOrigin(runId: string, scope: TaskScope): Promise<RerunOrigin | undefined>;
  };
  slots: {
    /** Returns the limits that a run must pass before it begins, in their order. */
    findLimits(run: Pick<RequestContext, 'call'>, workflow: string, signal: AbortSignal): Promise<AppliedLimit[]>;
    /** Requests a slot for a run whose Task is durable. It may be repeated: a run has at most one slot of a gate. */
    requestSlot(
      run: Pick<RequestContext, 'taskId' | 'token' | 'call'>,
      request: SlotRequest | LimitRequest,
    ): Promise<SlotOutcome>;
    /** Waits until a run whose request had the outcome `next` may have a slot, or its deadline or the signal. */
    waitForSlot(run: Pick<RequestContext, 'taskId'>, until: Date | undefined, signal: AbortSignal): Promise<void>;
  };
  budgets: Pick<RunBudgets, 'openBudget' | 'findExceeded'>;
  /** Base URL of the nodes of this service. Read it at each call, because it is known only once the server listens. */
  address: { readonly internalUrl: string };
  /** True if nodes of this service are called in this process. Their Tasks then name their run as parent. */
  localDispatch: boolean;
  /** Limits of the content that a run builds. */
  content: ContentLimits;
  clock: RunClock;
  /** Budget of running nodes and evaluation steps that the runs of this process share. */
  work: WorkBudget;
  metrics?: NodeMetrics;
}

/**
 * Counts the active nodes of one run against the limit that all runs of the process share. A node is active while its
 * agent has been called and has not answered. These nodes do not count: nodes that ask a question, wait for a time or
 * process a list, and nodes whose Task is a parked run. `NodeRoom` divides the limit among runs; `parallel` limits the
 * nodes of a run by its definition (`Frontier.selectNodesToStart`).
 */
export class RunRoom {
  /** Nodes whose Task is a parked run: a run that only waits for a time, and that no replica executes. */
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

  /**
   * Updates the count of active nodes if an event of a node's Task shows that the Task now is a parked run (a run that
   * only waits for a time), or no longer is one.
   */
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

/** True if an agent is called for a node when it starts. */
function isCalled(node: NodeInstance): boolean {
  return node.each === undefined && !isOwn(node);
}
