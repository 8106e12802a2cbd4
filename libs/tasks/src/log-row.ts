import type { Message, StreamResponse } from '#libs/protocol';
import {
  beginningsOf,
  EVENT_END,
  type LogReference,
  MOST_CHARACTERS,
  RECEIVED,
  shortenEvent,
  restoreText,
  withoutIds,
} from './log-phrases.js';
import type { RecordedEvent, TaskEvent } from './task-event.js';
import type { JournalEntry } from './task-store.js';

/** Maximum number of events that share a row. Readers rely on it. */
export const MOST_EVENTS = 32;

/**
 * SQL for the text of a row in either layout. Earlier, each event had a row with its JSON in `payload` and its received
 * Message in `received`. Earlier versions still write such rows, through the view `task_event`.
 */
export const ROW_TEXT = `coalesce(events, payload::text || coalesce(E'\\x1f' || received::text, ''))`;

/** SQL for the text of a whole log. */
export const LOG_TEXT = `string_agg(${ROW_TEXT}, E'\\x1e' ORDER BY sequence)`;

/** SQL condition, true if all events of a row are of Artifacts. Rows without the flag are judged by their text. */
export const OF_ARTIFACTS = `coalesce(artifact, starts_with(payload::text, '{"artifactUpdate"'))`;

export interface LogRow {
  taskId: string;
  sequence: number;
  events: string;
  /** True if all events are of Artifacts. */
  artifact: boolean;
}

/** Returns the rows of an entry. Consecutive small events share a row. */
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

/** Returns the row text of an event that has none yet. */
function rowText(reference: LogReference, { event, json }: RecordedEvent): string {
  const received = 'statusUpdate' in event ? event.received : undefined;
  const text = received ? json + RECEIVED + JSON.stringify(received) : json;
  if (text.length > MOST_CHARACTERS) return text;
  return withoutIds('task' in event ? text : shortenEvent(text, beginningsOf(reference)), reference);
}

/**
 * Parses the events of a row, or of a whole log, from the database's text.
 * @param last sequence of the last event; may be omitted for a whole log
 */
export function toEvents(reference: LogReference, text: string, last?: number): RecordedEvent[] {
  const events = eventTexts(reference, text);
  const before = last === undefined ? 0 : last - events.length;
  return events.map((event, index) => toRecordedEvent(reference.taskId, before + index + 1, event));
}

/** Splits the text of a row or log into events: each is an event's JSON, followed by its received Message, if any. */
export function eventTexts(reference: LogReference, text: string): string[] {
  return restoreText(text, reference).split(EVENT_END);
}

/** Parses an event from its text. */
export function parseEvent(text: string): TaskEvent {
  const end = text.indexOf(RECEIVED);
  const response = JSON.parse(end < 0 ? text : text.slice(0, end)) as StreamResponse;
  if ('message' in response) throw new Error('A log holds something that is no task event');
  if (!('statusUpdate' in response) || end < 0) return response;
  return { statusUpdate: response.statusUpdate, received: JSON.parse(text.slice(end + 1)) as Message };
}

/** Returns an event that is parsed on first access: a stream that forwards it needs only its JSON. */
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
