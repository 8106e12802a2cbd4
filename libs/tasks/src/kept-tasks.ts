import { setImmediate as turn } from 'node:timers/promises';
import { isWaitingState, type Task } from '#libs/protocol';
import { heapBytes } from './heap-bytes.js';
import type { KeptFolds } from './kept-folds.js';
import { eventsAfter, type LogPlace, placeOfEvent } from './log-place.js';
import { eventBytes } from './log-size.js';
import type { RecordedEvent } from './task-event.js';
import { TaskFold } from './task-fold.js';
import type { StoredTask, TaskHeader } from './task-store.js';

/** Bytes of a log that folds as fast as a stored Task is looked up and verified. */
const SHORT_LOG = 64 * 1024;
/** Approximate bytes of new events per read, maximum number of events, and the number if their size is unknown. */
const PAGE_BYTES = 1024 * 1024;
const PAGE_EVENTS = 1000;
const PAGE_OF_UNKNOWN = 100;
/** Milliseconds for which a Task may be measured before other work gets a turn. */
const LONGEST_STRETCH = 10;

/** Task with the bytes of its log, and its own bytes of the heap. */
export interface WeighedTask {
  readonly task: Task;
  readonly bytes: number;
  readonly weight: number;
}

/** Reads at most `limit` events of a log after a sequence. */
type ReadTaskEvents = (taskId: string, after: number, limit: number) => Promise<readonly RecordedEvent[]>;

/**
 * Waiting Tasks with long logs, as this replica folded them last, so that a claim folds only new events. Each use
 * verifies that the log still has the event that the Task was folded up to.
 */
export class KeptTasks {
  constructor(
    private readonly events: ReadTaskEvents,
    private readonly kept: KeptFolds<WeighedTask>,
  ) {}

  /**
   * Returns the Task at `header.lastSequence`; `undefined` if the log has to be folded from the start. New events are
   * read and folded page by page.
   */
  async foldForward(header: TaskHeader): Promise<StoredTask | undefined> {
    const found = this.kept.get(header.taskId);
    if (!found) return undefined;
    const { state } = found;
    const readOwnEvents = (after: number, limit: number) => this.events(header.taskId, after, limit);
    const page = pageEvents(header, found.place, state.bytes);
    const fold = TaskFold.fromTask(state.task);
    let { place } = found;
    let { bytes, weight } = state;
    do {
      const later = await eventsAfter(readOwnEvents, place, Math.min(place.sequence + page, header.lastSequence));
      if (!later) return undefined;
      for (const { event, json } of later) {
        fold.applyEvent(event);
        bytes += eventBytes(event, json);
        weight += heapBytes(event);
      }
      place = later.length > 0 ? placeOfEvent(later.at(-1)!) : place;
    } while (place.sequence < header.lastSequence);
    const task = fold.toTask();
    this.kept.keepFold(header, weight, { state: { task, bytes, weight }, place });
    return { header, task, bytes: header.size?.log ?? bytes };
  }

  /** Stores a Task that was folded up to `header.lastSequence`, if it waits and its log is long. */
  async keepTask({ header, task, bytes = 0 }: StoredTask): Promise<void> {
    const { taskId, lastSequence, state } = header;
    if (bytes < SHORT_LOG || !isWaitingState(state)) return;
    const [last] = await this.events(taskId, lastSequence - 1, 1);
    if (last?.sequence !== lastSequence) return;
    const weight = await weightOf(task);
    this.kept.keepFold(header, weight, { state: { task, bytes, weight }, place: placeOfEvent(last) });
  }

  /** Drops a Task that no longer waits. */
  dropTask(taskId: string): void {
    this.kept.takeFold(taskId);
  }
}

/** Returns the number of new events to read at once. */
function pageEvents({ size, lastSequence }: TaskHeader, { sequence }: LogPlace, bytes: number): number {
  if (!size) return PAGE_OF_UNKNOWN;
  const usual = (size.log - bytes) / Math.max(lastSequence - sequence, 1);
  return Math.min(Math.max(Math.floor(PAGE_BYTES / Math.max(usual, 1)), 1), PAGE_EVENTS);
}

/** Resolves with the heap bytes of a Task, which must not change meanwhile. */
async function weightOf({ history = [], artifacts = [], ...rest }: Task): Promise<number> {
  let weight = heapBytes(rest);
  let since = performance.now();
  for (const it of [...history, ...artifacts]) {
    weight += heapBytes(it);
    if (performance.now() - since < LONGEST_STRETCH) continue;
    await turn();
    since = performance.now();
  }
  return weight;
}
