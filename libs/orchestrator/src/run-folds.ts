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

/** Bytes of a log that is folded as fast as a fold of it is looked up and proved. */
const SHORT_LOG = 64 * 1024;

/** A run as its log has it up to the last event that the state has taken in. */
export interface RunFold {
  readonly state: RunState;
  /** The Task of the run, which begins its log. */
  readonly first: TaskEvent | undefined;
}

/** Start of an execution of a run. */
export interface RunStart extends Pick<ProcessStart, 'context' | 'links'> {
  readonly fold: RunFold;
}

/** A kept fold with the size of its log in bytes. */
interface SizedFold extends RunFold {
  readonly bytes: number;
}

/**
 * Folds of runs that wait, in the memory of this replica: an answer to one of many questions reads and folds what is new.
 *
 * - Each use proves by the log that it still has the event that the fold ends with. Where it has another one, or there is
 *   no fold, the whole log is folded.
 * - Only events that are durable are in a kept fold.
 * - `FoldMemory` bounds all folds.
 */
@Injectable()
export class RunFolds {
  protected readonly kept: KeptFolds<SizedFold>;
  private readonly weights = new RunWeights();
  /** Bytes of the shortest log whose fold is kept. */
  protected readonly shortest: number = SHORT_LOG;

  constructor(
    private readonly tasks: TaskStore,
    memory: FoldMemory,
  ) {
    this.kept = new KeptFolds(memory);
  }

  /**
   * Takes out the fold of a run that is executed, up to the end of its log; `undefined` where the log has to be folded.
   * @throws whatever hinders the reading
   */
  async take(context: RequestContext, definition: WorkflowDefinition): Promise<RunFold | undefined> {
    const kept = this.kept.take(context.taskId);
    if (kept?.state.state.definition !== definition) return undefined;
    const later = await context.places?.after(kept.place);
    if (!later) return undefined;
    for (const { event } of later) kept.state.state.apply(event);
    return kept.state;
  }

  /**
   * Keeps the fold of a run that waits, when what its execution recorded is durable. Never fails.
   * @param fold that nobody changes any more
   */
  async keep({ taskId, call: { scope }, places }: RequestContext, fold: RunFold): Promise<void> {
    const last = await places?.last().catch(() => undefined);
    // An event that the state took in, and the log did not, would make them differ.
    if (last?.place.sequence !== fold.state.sequence) return;
    this.put({ taskId, ...scope }, { state: { ...fold, bytes: last.bytes }, place: last.place });
  }

  /**
   * Returns a run as its log has it at `header.lastSequence`, to be looked at before anything else is waited for: an
   * execution may go on with the same state.
   * @param admission to a log that is read whole for a caller; absent: an execution reads it
   * @throws whatever hinders the reading
   */
  async read(header: TaskHeader, definition: WorkflowDefinition, admission?: LogAdmission): Promise<RunState> {
    const { taskId, lastSequence, tenant, owner } = header;
    const read = (after: number, limit: number): Promise<RecordedEvent[]> =>
      this.tasks.events(taskId, after, limit, { tenant, owner });
    const kept = this.kept.get(taskId);
    if (kept?.state.state.definition === definition) {
      const later = await eventsAfter(read, kept.place, lastSequence);
      // Others may have taken it, or brought it forward, meanwhile.
      if (later && this.kept.get(taskId) === kept) return this.bringForward(header, kept, later);
    }
    const log = admission ? await wholeLog(this.tasks, header, admission) : await read(0, lastSequence);
    const state = RunState.of(
      definition,
      log.map(({ event }) => event),
    );
    const last = log.at(-1);
    if (last && isWaitingState(header.state))
      this.put(header, { state: { state, first: log[0]?.event, bytes: bytesOf(log) }, place: placeOfEvent(last) });
    return state;
  }

  private bringForward(header: TaskHeader, kept: KeptFold<SizedFold>, later: readonly RecordedEvent[]): RunState {
    const last = later.at(-1);
    const { state, first, bytes } = kept.state;
    if (last === undefined) return state;
    this.kept.take(header.taskId);
    for (const { event } of later) state.apply(event);
    this.put(header, { state: { state, first, bytes: bytes + bytesOf(later) }, place: placeOfEvent(last) });
    return state;
  }

  private put(of: Pick<TaskHeader, 'taskId' | 'tenant' | 'owner'>, fold: KeptFold<SizedFold>): void {
    const { state } = fold;
    if (state.bytes >= this.shortest) this.kept.keep(of, this.weights.of(state.state, state.first), fold);
  }
}

function bytesOf(events: readonly RecordedEvent[]): number {
  return events.reduce((sum, { event, json }) => sum + eventBytes(event, json), 0);
}
