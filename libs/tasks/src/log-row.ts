import type { Message, StreamResponse } from '#libs/protocol';
import {
  beginningsOf,
  EVENT_END,
  type LogReference,
  MOST_CHARACTERS,
  RECEIVED,
  shortened,
  whole,
  withoutIds,
} from './log-phrases.js';
import type { RecordedEvent, TaskEvent } from './task-event.js';
import type { JournalEntry } from './task-store.js';

/** So many events share a row, at most; readers count on it. */
export const MOST_EVENTS = 32;

/**
 * The text of a row, whichever layout it has: before there was this one every event had a row, with its JSON in `payload`
 * and the Message that it received in `received`. Versions of then still write such rows, through the view `task_event`.
 */
export const ROW_TEXT = `coalesce(events, payload::text || coalesce(E'\\x1f' || received::text, ''))`;

/** That of a whole log. */
export const LOG_TEXT = `string_agg(${ROW_TEXT}, E'\\x1e' ORDER BY sequence)`;

/** Whether all events of a row are of Artifacts; rows of before that was noted tell by their text. */
export const OF_ARTIFACTS = `coalesce(artifact, starts_with(payload::text, '{"artifactUpdate"'))`;

export interface LogRow {
  taskId: string;
  sequence: number;
  events: string;
  /** Whether all of them are of Artifacts. */
  artifact: boolean;
}

/** The rows of an entry: those of its events that are small share some, in their order. */
export function toLogRows(entry: JournalEntry): LogRow[] {
  const rows: LogRow[] = [];
  let [row, shared]: [LogRow | undefined, number] = [undefined, 0];
  for (const it of entry.events) {
    const events = it.row ?? rowText(entry, it);
    const artifact = 'artifactUpdate' in it.event;
    if (row && shared < MOST_EVENTS && row.events.length + events.length < MOST_CHARACTERS) {
      row.sequence = it.sequence;
      row.events += EVENT_END + events;
      row.artifact &&= artifact;
      shared += 1;
    } else {
      rows.push((row = { taskId: entry.taskId, sequence: it.sequence, events, artifact }));
      shared = 1;
    }
  }
  return rows;
}

/** Of an event that was not written for its row. */
function rowText(reference: LogReference, { event, json }: RecordedEvent): string {
  const received = 'statusUpdate' in event ? event.received : undefined;
  const text = received ? json + RECEIVED + JSON.stringify(received) : json;
  if (text.length > MOST_CHARACTERS) return text;
  return withoutIds('task' in event ? text : shortened(text, beginningsOf(reference)), reference);
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
export function eventTexts(reference: LogReference, text: string): string[] {
  return whole(text, reference).split(EVENT_END);
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
