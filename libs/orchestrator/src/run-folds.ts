import { Injectable } from '@nestjs/common';
import type { RequestContext } from '#libs/executor';
import type { ProcessStart } from '#libs/process';
import { isWaitingState } from '#libs/protocol';
import {
  eventBytes,
  eventsAfter,
  FoldMemory,
  type KeptFold,
  KeptFolds,
  type LogAdmission,
  placeOfEvent,
  type RecordedEvent,
  type TaskEvent,
  type TaskHeader,
  TaskStore,
  wholeLog,
} from '#libs/tasks';
import { RunState } from './run-state.js';
import { RunWeights } from './run-weight.js';
import type { WorkflowDefinition } from './workflow.js';

/** Bytes of a log below which folding is as fast as the lookup of a stored fold. */
const SHORT_LOG = 64 * 1024;

/** A run folded up to the last event that its state has applied. */
export interface RunFold {
  readonly state: RunState;
  /** First event of the log: the Task of the run. */
  readonly first: TaskEvent | undefined;
}

/** Start of an execution of a run. */
export interface RunStart extends Pick<ProcessStart, 'context' | 'links'> {
  readonly fold: RunFold;
}

/** A stored fold with the size of its log in bytes. */
interface SizedFold extends RunFold {
  readonly bytes: number;
}

/**
 * Cache of folded runs that wait, in the memory of this replica. A follow-up Message then reads and folds only new
 * events.
 *
 * - Each use checks that the log still contains the last event of the fold. Otherwise, or without a fold, the whole log
 *   is folded.
 * - A stored fold contains only durable events.
 * - `FoldMemory` limits all folds.
 */
@Injectable()
export class RunFolds {
  protected readonly kept: KeptFolds<SizedFold>;
  private readonly weights = new RunWeights();
  /** Bytes of the shortest log whose fold is stored. */
  protected readonly shortest: number = SHORT_LOG;

  constructor(
    private readonly tasks: TaskStore,
    memory: FoldMemory,
  ) {
    this.kept = new KeptFolds(memory);
  }

  /**
   * Removes and returns the fold of a run that is about to execute, brought up to the end of its log. `undefined` if
   * the log must be folded.
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
   * Stores the fold of a waiting run once its recorded events are durable. Never fails.
   * @param fold that is not modified afterwards
   */
  async keepFold({ taskId, call: { scope }, places }: RequestContext, fold: RunFold): Promise<void> {
    const last = await places?.readLast().catch(() => undefined);
    // A fold with an event that the log lacks would differ from the log.
    if (last?.place.sequence !== fold.state.sequence) return;
    this.storeFold({ taskId, ...scope }, { state: { ...fold, bytes: last.bytes }, place: last.place });
  }

  /**
   * Returns the state of a run at `header.lastSequence`. Use it before you await anything else: an execution may
   * continue with the same state.
   * @param admission for reading a whole log for a caller; absent for an execution
   * @throws errors of the read
   */
  async readRunState(header: TaskHeader, definition: WorkflowDefinition, admission?: LogAdmission): Promise<RunState> {
    const { taskId, lastSequence, tenant, owner } = header;
    const readLogEvents = (after: number, limit: number): Promise<RecordedEvent[]> =>
      this.tasks.readEvents(taskId, after, limit, { tenant, owner });
    const kept = this.kept.get(taskId);
    if (kept?.state.state.definition === definition) {
      const later = await eventsAfter(readLogEvents, kept.place, lastSequence);
      // Another execution may have taken or advanced the fold meanwhile.
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
