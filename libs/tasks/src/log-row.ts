import type { Message, StreamResponse } from '#libs/protocol';
import type { RecordedEvent, TaskEvent } from './task-event.js';
import type { JournalEntry } from './task-store.js';

/*
 * A row of `task_log` has the events that one statement wrote for one Task, as one text, and the sequence of the last of
 * them. JSON holds no control characters, so they are free to part one event from the next, and from the Message that it
 * received, and to stand for the two ids that nearly every event says. What this file writes is read for ever.
 */
const EVENT_END = '\u001e';
const RECEIVED = '\u001f';
const TASK_ID = '\u0001';
const CONTEXT_ID = '\u0002';

/** What shares a row: without ids it mostly stays in its page, and whoever reads half of it has read little more. */
const MOST_CHARACTERS = 3_000;
/** Readers count on it. */
export const MOST_EVENTS = 32;
/** A shorter id is hardly worth to be left out. */
const SHORTEST_ID = 8;

/**
 * The text of a row, whichever layout it has: before there was this one every event had a row, with its JSON in `payload`
 * and the Message that it received in `received`. Versions of then still write such rows, through the view `task_event`.
 */
export const ROW_TEXT = `coalesce(events, payload::text || coalesce(E'\\x1f' || received::text, ''))`;

/** That of a whole log. */
export const LOG_TEXT = `string_agg(${ROW_TEXT}, E'\\x1e' ORDER BY sequence)`;

/** Whether all events of a row are of Artifacts; rows of before that was noted tell by their text. */
export const OF_ARTIFACTS = `coalesce(artifact, starts_with(payload::text, '{"artifactUpdate"'))`;

/** What events leave out. */
export interface LogReference {
  taskId: string;
  contextId: string;
}

export interface LogRow {
  taskId: string;
  sequence: number;
  events: string;
  /** Whether all of them are of Artifacts. */
  artifact: boolean;
}

/** The rows of an entry: those of its events that are small share some, in their order. */
export function toLogRows({ taskId, contextId, events }: JournalEntry): LogRow[] {
  const rows: LogRow[] = [];
  let [row, shared]: [LogRow | undefined, number] = [undefined, 0];
  for (const { sequence, event, json } of events) {
    const received = 'statusUpdate' in event ? event.received : undefined;
    const text = received ? json + RECEIVED + JSON.stringify(received) : json;
    const artifact = 'artifactUpdate' in event;
    if (row && shared < MOST_EVENTS && row.events.length + text.length < MOST_CHARACTERS) {
      row.sequence = sequence;
      row.events += EVENT_END + text;
      row.artifact &&= artifact;
      shared += 1;
    } else {
      rows.push((row = { taskId, sequence, events: text, artifact }));
      shared = 1;
    }
  }
  for (const it of rows) it.events = withoutIds(it.events, taskId, contextId);
  return rows;
}

/**
 * The events of a row, or of a whole log, as a text of the database.
 * @param last the sequence of the last of them; of a log that is whole that follows
 */
export function toEvents(reference: LogReference, text: string, last?: number): RecordedEvent[] {
  const events = eventTexts(reference, text);
  const before = last === undefined ? 0 : last - events.length;
  return events.map((event, index) => toRecordedEvent(reference.taskId, before + index + 1, event));
}

/** The same as texts: each is an event's JSON and, where it received one, a Message. */
export function eventTexts({ taskId, contextId }: LogReference, text: string): string[] {
  // Backwards: an id of control characters would be taken for what it was left out of.
  return text.split(CONTEXT_ID).join(contextId).split(TASK_ID).join(taskId).split(EVENT_END);
}

/** An event by its text. */
export function parseEvent(text: string): TaskEvent {
  const end = text.indexOf(RECEIVED);
  const response = JSON.parse(end < 0 ? text : text.slice(0, end)) as StreamResponse;
  if ('message' in response) throw new Error('A log holds something that is no task event');
  if (!('statusUpdate' in response) || end < 0) return response;
  return { statusUpdate: response.statusUpdate, received: JSON.parse(text.slice(end + 1)) as Message };
}

/** Parses the event only when it is looked at: a stream that forwards it needs its JSON alone. */
function toRecordedEvent(taskId: string, sequence: number, text: string): RecordedEvent {
  const end = text.indexOf(RECEIVED);
  let event: TaskEvent | undefined;
  return {
    taskId,
    sequence,
    json: end < 0 ? text : text.slice(0, end),
    get event(): TaskEvent {
      return (event ??= parseEvent(text));
    },
  };
}

/** Large events keep their ids: nothing is won, and all of them would be looked through. */
function withoutIds(text: string, taskId: string, contextId: string): string {
  if (text.length > MOST_CHARACTERS) return text;
  return leftOut(leftOut(text, taskId, TASK_ID), contextId, CONTEXT_ID);
}

function leftOut(text: string, id: string, mark: string): string {
  return id.length < SHORTEST_ID ? text : text.replaceAll(id, mark);
}
