import { createHash } from 'node:crypto';
import type { Task } from '#libs/protocol';
import type { LogAdmission, TaskHeader, TaskScope, TaskStore } from '../store/task-store.js';
import type { RecordedEvent } from './task-event.js';
import { TaskFold } from './task-fold.js';

/**
 * Reads the first event of a Task's log, and returns the Task as it was created, with its metadata; `undefined` if the
 * Task does not exist.
 */
export async function begunTask(store: Pick<TaskStore, 'readEvents'>, taskId: string): Promise<Task | undefined> {
  const [first] = await store.readEvents(taskId, 0, 1);
  return first && 'task' in first.event ? first.event.task : undefined;
}

const PAGE = 500;

/**
 * Returns a Task as of a sequence of its log, by applying the events page by page; `undefined` if the log ends before
 * that sequence.
 * @param sequence from 1
 * @param reader caller whose reads of long logs take turns with the reads of other callers
 */
export async function foldLog(
  store: Pick<TaskStore, 'readEvents'>,
  taskId: string,
  sequence: number,
  reader?: TaskScope,
): Promise<TaskFold | undefined> {
  let fold: TaskFold | undefined;
  for (let folded = 0; folded < sequence;) {
    const events = await store.readEvents(taskId, folded, Math.min(PAGE, sequence - folded), reader);
    if (events.length === 0) return undefined;
    fold = foldEvents(events, fold);
    folded += events.length;
  }
  return fold;
}

/**
 * Applies events in order, and returns the resulting state (fold). With `fold`, the events are applied to that object,
 * which is changed and returned; without it, the first event must begin the Task. Returns `undefined` if there are
 * neither events nor a fold.
 */
export function foldEvents(events: readonly RecordedEvent[], fold?: TaskFold): TaskFold | undefined {
  let folded = fold;
  for (const { event } of events) {
    if (folded) folded.applyEvent(event);
    else folded = TaskFold.beginTask(event);
  }
  return folded;
}

/** Number of copies of a whole log in memory: its text as read, its parsed events, and up to two in the response. */
const COPIES = 4;

/**
 * Reads the log of a Task up to the last sequence in its header. For a long log, memory for all copies is reserved
 * first; reads of different callers take turns. Returns fewer events if the Task is purged meanwhile.
 */
export async function wholeLog(
  store: Pick<TaskStore, 'readLog' | 'readEvents'>,
  { taskId, lastSequence, tenant, owner }: TaskHeader,
  admission: LogAdmission,
): Promise<readonly RecordedEvent[]> {
  const reader = { tenant, owner };
  const known = await store.readLog(taskId, reader);
  if (known?.events) return known.events.slice(0, lastSequence);
  if (known) await admission.admitBytes(COPIES * (known.header.size?.log ?? 0));
  return store.readEvents(taskId, 0, lastSequence, reader);
}

/**
 * Place in the log of one Task, a verifiable cursor: the sequence of an event and a digest of its JSON. A database
 * server that replaced another one may have a different event at that sequence, so the sequence alone proves nothing.
 * (Other cursors: a bare `sequence`, and CommitPosition for the commits of all Tasks.)
 */
export interface LogPlace {
  readonly sequence: number;
  readonly digest: string;
}

/** Returns the place (LogPlace: sequence and digest) of an event in its Task's log. */
export function placeOfEvent({ sequence, json }: Pick<RecordedEvent, 'sequence' | 'json'>): LogPlace {
  return { sequence, digest: createHash('sha256').update(json).digest('base64') };
}

/** Function that reads at most `limit` events after a sequence. */
type ReadLogEvents = (afterSequence: number, limit: number) => Promise<readonly RecordedEvent[]>;

/**
 * Reads the events after a place, up to `lastSequence`, and verifies the event at the place. Returns `undefined` if the
 * log has a different event at the place, or ends before `lastSequence`, as the log of a purged Task does.
 */
export async function eventsAfter(
  read: ReadLogEvents,
  place: LogPlace,
  lastSequence: number,
): Promise<readonly RecordedEvent[] | undefined> {
  const wanted = lastSequence - place.sequence + 1;
  if (wanted < 1) return undefined;
  const [at, ...later] = await read(place.sequence - 1, wanted);
  if (at === undefined || later.length < wanted - 1) return undefined;
  return placeOfEvent(at).digest === place.digest ? later : undefined;
}
