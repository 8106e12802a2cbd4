import type { Message, StreamResponse } from '#libs/protocol';
import type { RecordedEvent, TaskEvent } from './task-event.js';
import type { JournalEntry } from './task-store.js';

/*
 * A row of `task_log` has the events that one statement wrote for one Task, as one text, and the sequence of the last of
 * them. JSON holds no control characters, so they are free to part one event from the next, and from the Message that it
 * received, and to stand for the two ids that nearly every event says, and for how nearly every event begins. What this
 * file writes is read for ever.
 */
const EVENT_END = '\u001e';
const RECEIVED = '\u001f';
const TASK_ID = '\u0001';
const CONTEXT_ID = '\u0002';

/** A character, and what it stands for. The view `task_event` knows them as well. */
type Phrase = readonly [mark: string, text: string];

const NOTE: Phrase = ['\u0006', ',"metadata":{"parley/event":{"type":"'];
const PHRASES: readonly Phrase[] = [...beginningsOf({ taskId: TASK_ID, contextId: CONTEXT_ID }), NOTE];

/** What shares a row, as it is written: whoever reads half of it has read little more. */
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
  const beginnings = beginningsOf({ taskId, contextId });
  let [row, shared]: [LogRow | undefined, number] = [undefined, 0];
  for (const { sequence, event, json } of events) {
    const received = 'statusUpdate' in event ? event.received : undefined;
    const text = received ? json + RECEIVED + JSON.stringify(received) : json;
    const artifact = 'artifactUpdate' in event;
    // Large events stay as they are: nothing is won, and all of them would be looked through.
    const short = text.length > MOST_CHARACTERS ? text : shortened(text, beginnings);
    if (row && shared < MOST_EVENTS && row.events.length + short.length < MOST_CHARACTERS) {
      row.sequence = sequence;
      row.events += EVENT_END + short;
      row.artifact &&= artifact;
      shared += 1;
    } else {
      rows.push((row = { taskId, sequence, events: short, artifact }));
      shared = 1;
    }
  }
  for (const it of rows) if (it.events.length <= MOST_CHARACTERS) it.events = withoutIds(it.events, taskId, contextId);
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
  let whole = text;
  for (const [mark, phrase] of PHRASES) whole = whole.split(mark).join(phrase);
  return withIds(whole, { taskId, contextId }).split(EVENT_END);
}

/** Backwards: an id of control characters would be taken for what it was left out of. */
function withIds(text: string, { taskId, contextId }: LogReference): string {
  return text.split(CONTEXT_ID).join(contextId).split(TASK_ID).join(taskId);
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

/** How most events of a Task begin. Each of these is looked for after those before it. */
function beginningsOf({ taskId, contextId }: LogReference): Phrase[] {
  const ids = `"taskId":"${taskId}","contextId":"${contextId}"`;
  return [
    ['\u0003', `{"statusUpdate":{${ids},"status":{"state":"TASK_STATE_WORKING","timestamp":"`],
    ['\u0004', `{"statusUpdate":{${ids},"status":{"state":"TASK_STATE_`],
    ['\u0005', `{"artifactUpdate":{${ids},"artifact":{"artifactId":"`],
  ];
}

/**
 * Without how it begins, and how what it notes does. An id of control characters, which could be found across a mark, is
 * no beginning: JSON says it in another way.
 */
function shortened(text: string, beginnings: readonly Phrase[]): string {
  const [mark, noted] = NOTE;
  for (const [first, beginning] of beginnings) {
    // Compared as a whole, which takes a tenth of what `startsWith` does.
    if (text.slice(0, beginning.length) === beginning) return first + text.slice(beginning.length).replace(noted, mark);
  }
  return text;
}

function withoutIds(text: string, taskId: string, contextId: string): string {
  return leftOut(leftOut(text, taskId, TASK_ID), contextId, CONTEXT_ID);
}

/** What `replaceAll` does, in a quarter of its time. */
function leftOut(text: string, id: string, mark: string): string {
  if (id.length < SHORTEST_ID) return text;
  let [kept, from] = ['', 0];
  for (let at = text.indexOf(id); at >= 0; at = text.indexOf(id, from)) {
    kept += text.slice(from, at) + mark;
    from = at + id.length;
  }
  return from === 0 ? text : kept + text.slice(from);
}
