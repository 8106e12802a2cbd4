import { isWaitingState, type Task } from '#libs/protocol';
import { type KeptFold, KeptFolds } from './kept-folds.js';
import { eventsAfter, placeOfEvent } from './log-place.js';
import { eventBytes } from './log-size.js';
import type { RecordedEvent } from './task-event.js';
import { TaskFold } from './task-fold.js';
import type { StoredTask, TaskHeader } from './task-store.js';

/** Bytes of a log that is folded as fast as a kept Task is looked up and proved. */
const SHORT_LOG = 64 * 1024;
/** Bytes of the heap for each byte of the log; rather too many. */
const HEAP_PER_BYTE = 2;

/** A Task with the size of its log in bytes. */
interface SizedTask {
  readonly task: Task;
  readonly bytes: number;
}

/** Reads at most `limit` events of a log after a sequence. */
type ReadEvents = (taskId: string, after: number, limit: number) => Promise<readonly RecordedEvent[]>;

/**
 * Tasks that wait, as their long logs were folded last in this replica: each claim reads and folds what is new. Each use
 * proves by the log that it still has the event that the Task was folded up to.
 */
export class KeptTasks {
  constructor(
    private readonly events: ReadEvents,
    private readonly kept = new KeptFolds<SizedTask>(),
  ) {}

  /**
   * Returns the Task as its log has it at `header.lastSequence`; `undefined` where the log has to be folded.
   * @param most how many new events are read at once
   */
  async forward(header: TaskHeader, most: number): Promise<StoredTask | undefined> {
    const found = this.kept.get(header.taskId);
    if (!found || header.lastSequence - found.place.sequence >= most) return undefined;
    const read = (after: number, limit: number) => this.events(header.taskId, after, limit);
    const later = await eventsAfter(read, found.place, header.lastSequence);
    if (!later) return undefined;
    return this.put(header, found, later);
  }

  /** Keeps a Task that was folded up to `header.lastSequence`, where it waits and its log is long. */
  async keep({ header, task, bytes = 0 }: StoredTask): Promise<void> {
    const { taskId, tenant, lastSequence, state } = header;
    if (bytes < SHORT_LOG || !isWaitingState(state)) return;
    const [last] = await this.events(taskId, lastSequence - 1, 1);
    if (last?.sequence === lastSequence)
      this.kept.keep(taskId, tenant, bytes * HEAP_PER_BYTE, { state: { task, bytes }, place: placeOfEvent(last) });
  }

  /** Drops the Task, which waits no more. */
  drop(taskId: string): void {
    this.kept.take(taskId);
  }

  private put(header: TaskHeader, found: KeptFold<SizedTask>, later: readonly RecordedEvent[]): StoredTask {
    const fold = TaskFold.from(found.state.task);
    for (const { event } of later) fold.apply(event);
    const bytes = later.reduce((sum, { event, json }) => sum + eventBytes(event, json), found.state.bytes);
    const task = fold.task();
    const place = later.length > 0 ? placeOfEvent(later.at(-1)!) : found.place;
    this.kept.keep(header.taskId, header.tenant, bytes * HEAP_PER_BYTE, { state: { task, bytes }, place });
    return { header, task, bytes: header.size?.log ?? bytes };
  }
}
