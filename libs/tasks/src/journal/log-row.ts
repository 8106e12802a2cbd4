import type { Pool } from 'pg';
import {
  type Artifact,
  type Message,
  type StreamResponse,
  TASK_STATES,
  type TaskArtifactUpdateEvent,
  type TaskStatusUpdateEvent,
} from '#libs/protocol';
import { type RecordedEvent, type TaskEvent, toStreamResponse } from '../fold/task-event.js';
import type { JournalEntry } from '../store/task-store.js';

/*
 * A row of `task_log` contains the events that one statement wrote for one Task, as one text, and the sequence of the
 * last of them. JSON contains no control characters, so these can separate events, separate an event from its received
 * Message, and replace the two ids in nearly every event and the beginning of nearly every event. Every version must be
 * able to read what was written with them.
 */
const EVENT_END = '\u001e';
const RECEIVED = '\u001f';
const TASK_ID = '\u0001';
const CONTEXT_ID = '\u0002';

/**
 * Abbreviation in log rows: a control character (`mark`), and the frequent text for which it stands. The view
 * `task_event` expands the same abbreviations.
 */
type Phrase = readonly [mark: string, text: string];

/** Abbreviation of the beginning of an event's RunEventNote. */
const NOTE: Phrase = ['\u0006', ',"metadata":{"parley/event":{"type":"'];

/**
 * Maximum characters of a row that several events share. A reader that needs only some of these events then wastes
 * little. A longer event is stored unchanged, in its own row.
 */
const MOST_CHARACTERS = 3_000;
/** Minimum number of characters of an id that is worth replacing by a mark (control character). */
const SHORTEST_ID = 8;

/** Ids of a Task that are omitted from its log rows. */
interface LogReference {
  taskId: string;
  contextId: string;
}

/** Returns the abbreviations for the beginnings of most events of a Task, in the order in which they must be tried. */
function beginningsOf({ taskId, contextId }: LogReference): [working: Phrase, status: Phrase, artifact: Phrase] {
  const ids = `"taskId":"${taskId}","contextId":"${contextId}"`;
  return [
    ['\u0003', `{"statusUpdate":{${ids},"status":{"state":"TASK_STATE_WORKING","timestamp":"`],
    ['\u0004', `{"statusUpdate":{${ids},"status":{"state":"TASK_STATE_`],
    ['\u0005', `{"artifactUpdate":{${ids},"artifact":{"artifactId":"`],
  ];
}

/** All abbreviations, for texts in which the ids of the Task are still replaced by marks (control characters). */
const PHRASES: readonly Phrase[] = [...beginningsOf({ taskId: TASK_ID, contextId: CONTEXT_ID }), NOTE];

/**
 * Replaces the beginning of an event's JSON, and the beginning of its note, by their marks (control characters). JSON
 * escapes the control characters of ids, so no id is mistaken for a mark.
 */
function shortenEvent(text: string, beginnings: readonly Phrase[]): string {
  for (const [mark, beginning] of beginnings) {
    // Comparing a slice takes a tenth of the time of `startsWith`.
    if (text.slice(0, beginning.length) === beginning) return mark + withoutNote(text.slice(beginning.length));
  }
  return text;
}

function withoutNote(text: string): string {
  return text.replace(NOTE[1], NOTE[0]);
}

function withoutIds(text: string, { taskId, contextId }: LogReference): string {
  return replaceId(replaceId(text, taskId, TASK_ID), contextId, CONTEXT_ID);
}

/** Restores the texts and ids that marks (control characters) replace in a text. */
function restoreText(text: string, { taskId, contextId }: LogReference): string {
  let all = text;
  for (const [mark, phrase] of PHRASES) all = all.split(mark).join(phrase);
  // The reverse order of the replacement: otherwise an id of control characters would be mistaken for a mark.
  return all.split(CONTEXT_ID).join(contextId).split(TASK_ID).join(taskId);
}

/** Replaces an id by a mark (control character). Does the same as `replaceAll`, in a quarter of the time. */
function replaceId(text: string, id: string, mark: string): string {
  if (id.length < SHORTEST_ID) return text;
  let [kept, from] = ['', 0];
  for (let at = text.indexOf(id); at >= 0; at = text.indexOf(id, from)) {
    kept += text.slice(from, at) + mark;
    from = at + id.length;
  }
  return from === 0 ? text : kept + text.slice(from);
}

/** Maximum number of events that share a log row. Readers rely on it. */
export const MOST_EVENTS = 32;

/**
 * SQL expression for the text of a log row in either layout. In the earlier layout, each event has a row with its JSON
 * in `payload` and its received Message in `received`. Earlier versions still write such rows, through the view
 * `task_event`.
 */
export const ROW_TEXT = `coalesce(events, payload::text || coalesce(E'\\x1f' || received::text, ''))`;

/** SQL expression for the text of a whole log. */
export const LOG_TEXT = `string_agg(${ROW_TEXT}, E'\\x1e' ORDER BY sequence)`;

/**
 * SQL condition that is true if all events of a row are Artifact updates. For a row without a value in the column
 * `artifact`, the beginning of its text decides.
 */
export const OF_ARTIFACTS = `coalesce(artifact, starts_with(payload::text, '{"artifactUpdate"'))`;

export interface LogRow {
  taskId: string;
  sequence: number;
  events: string;
  /** True if all events of the row are Artifact updates. */
  artifact: boolean;
}

/** Returns the log rows of a journal entry. Consecutive small events share a row. */
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

/** Returns the text of an event in a log row, for an event whose text was not built when it was recorded. */
function rowText(reference: LogReference, { event, json }: RecordedEvent): string {
  const received = 'statusUpdate' in event ? event.received : undefined;
  const text = received ? json + RECEIVED + JSON.stringify(received) : json;
  if (text.length > MOST_CHARACTERS) return text;
  return withoutIds('task' in event ? text : shortenEvent(text, beginningsOf(reference)), reference);
}

/**
 * Parses the events of a log row, or of a whole log, from the database's text.
 * @param last sequence of the last event; may be omitted for a whole log
 */
export function toEvents(reference: LogReference, text: string, last?: number): RecordedEvent[] {
  const events = eventTexts(reference, text);
  const before = last === undefined ? 0 : last - events.length;
  return events.map((event, index) => toRecordedEvent(reference.taskId, before + index + 1, event));
}

/**
 * Splits the text of a log row, or of a whole log, into events. The text of an event is its JSON, followed by its
 * received Message, if any.
 */
export function eventTexts(reference: LogReference, text: string): string[] {
  return restoreText(text, reference).split(EVENT_END);
}

/** Parses an event from its text. @throws Error for a text that is no event of a Task */
export function parseEvent(text: string): TaskEvent {
  const end = text.indexOf(RECEIVED);
  const response = JSON.parse(end < 0 ? text : text.slice(0, end)) as StreamResponse;
  if ('message' in response) throw new Error('A log holds something that is no task event');
  if (!('statusUpdate' in response) || end < 0) return response;
  return { statusUpdate: response.statusUpdate, received: JSON.parse(text.slice(end + 1)) as Message };
}

/** Returns an event whose text is parsed on first access: a stream that forwards the event needs only its JSON. */
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

export interface EventText {
  /** The event as a ProtoJSON StreamResponse. */
  json: string;
  /** Text of the event in a log row (see shortenEvent); set if it was built together with the JSON. */
  row?: string;
}

/** Matches a text with a character that JSON may have to escape, or that is not ASCII. */
const NOT_PLAIN = /[^ !#-[\]-~]/;
const STATES = new Set<string>(TASK_STATES);
const STATE_PREFIX = 'TASK_STATE_'.length;
const ARTIFACT_BEGINS = '{"artifactId":"';
const TIME_FOLLOWS = ',"timestamp":"';
/**
 * Text with which the JSON of a member begins, such as `,"message":`, by the name of the member. Has the members that
 * are frequent in events.
 */
const MEMBER_BEGINNINGS: ReadonlyMap<string, string> = new Map(
  ['timestamp', 'message', 'metadata', 'append', 'lastChunk'].map((name) => [name, memberBeginning(name)]),
);
/**
 * Minimum number of characters of a text in which ids are replaced by marks. Shorter texts, as in a status without a
 * Message, stay unchanged because too little is saved.
 */
const FEW_CHARACTERS = 60;

type Beginnings = ReturnType<typeof beginningsOf>;

/**
 * Serializes the events of one Task with exactly the output of `JSON.stringify`. The beginnings of nearly all events
 * are known, so only the remaining text is serialized, once for both the JSON and the log row.
 */
export class EventTexts {
  private readonly beginnings: Beginnings | undefined;

  constructor(private readonly reference: LogReference) {
    const { taskId, contextId } = reference;
    if (isPlain(taskId) && isPlain(contextId)) this.beginnings = beginningsOf(reference);
  }

  serializeEvent(event: TaskEvent): EventText {
    return this.serializeShortened(event) ?? { json: JSON.stringify(toStreamResponse(event)) };
  }

  private serializeShortened(event: TaskEvent): EventText | undefined {
    if (!this.beginnings || !this.belongsToTask(event)) return undefined;
    if ('artifactUpdate' in event) return this.artifactText(event.artifactUpdate, this.beginnings);
    if ('statusUpdate' in event && !event.received) return this.statusText(event.statusUpdate, this.beginnings);
    return undefined;
  }

  private statusText(update: TaskStatusUpdateEvent, [working, other]: Beginnings): EventText | undefined {
    const { state } = update.status;
    if (!STATES.has(state)) return undefined;
    const beside = membersAfter(update, 'taskId', 'contextId', 'status');
    const own = beside === undefined ? undefined : membersAfter(update.status, 'state');
    if (own === undefined || beside === undefined) return undefined;
    if (state === 'TASK_STATE_WORKING' && own.slice(0, TIME_FOLLOWS.length) === TIME_FOLLOWS) {
      return this.composeText(working, `${own.slice(TIME_FOLLOWS.length)}}`, beside);
    }
    return this.composeText(other, `${state.slice(STATE_PREFIX)}"${own}}`, beside);
  }

  private artifactText(update: TaskArtifactUpdateEvent, [, , beginning]: Beginnings): EventText | undefined {
    const beside = membersAfter(update, 'taskId', 'contextId', 'artifact');
    // Checked first: an Artifact can be large and must not be serialized twice.
    if (beside === undefined || !beginsWithId(update.artifact)) return undefined;
    return this.composeText(beginning, JSON.stringify(update.artifact).slice(ARTIFACT_BEGINS.length), beside);
  }

  /**
   * Composes the JSON and the log row of an event.
   * @param own the JSON that follows the known beginning, up to the end of the status or Artifact
   * @param beside the JSON of the event's other members, such as the metadata with its RunEventNote
   */
  private composeText([mark, beginning]: Phrase, own: string, beside: string): EventText {
    const json = `${beginning}${own}${beside}}}`;
    if (json.length > MOST_CHARACTERS) return { json };
    const said = beside === '' ? own : own + withoutNote(beside);
    const row = said.length < FEW_CHARACTERS ? said : withoutIds(said, this.reference);
    return { json, row: `${mark}${row}}}` };
  }

  private belongsToTask(event: TaskEvent): boolean {
    if ('task' in event) return false;
    const { taskId, contextId } = 'artifactUpdate' in event ? event.artifactUpdate : event.statusUpdate;
    return taskId === this.reference.taskId && contextId === this.reference.contextId;
  }
}

function beginsWithId(artifact: Artifact): boolean {
  for (const name in artifact) return name === 'artifactId' && typeof artifact.artifactId === 'string';
  return false;
}

function isPlain(id: string): boolean {
  return id.length >= SHORTEST_ID && !NOT_PLAIN.test(id);
}

/**
 * Serializes the members of an object that come after the members `first`: as JSON, with a comma before each. Returns
 * `undefined` if the object begins with other members.
 */
function membersAfter(object: object, ...first: readonly string[]): string | undefined {
  let [text, place] = ['', 0];
  for (const name in object) {
    if (place < first.length) {
      if (name !== first[place]) return undefined;
      place += 1;
      continue;
    }
    const json = jsonOf((object as Record<string, unknown>)[name]);
    if (json !== undefined) text += (MEMBER_BEGINNINGS.get(name) ?? memberBeginning(name)) + json;
  }
  return text;
}

function memberBeginning(name: string): string {
  return `,${JSON.stringify(name)}:`;
}

/**
 * Serializes a value exactly as `JSON.stringify` does, without calling it for short values such as a time or `true`.
 */
function jsonOf(value: unknown): string | undefined {
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'string' && value.length < FEW_CHARACTERS && !NOT_PLAIN.test(value)) return `"${value}"`;
  return JSON.stringify(value);
}

/** Reads at most `limit` events of a log after a sequence, in order. */
export async function eventsOver(
  pool: Pick<Pool, 'query'>,
  taskId: string,
  after: number,
  limit: number,
): Promise<RecordedEvent[]> {
  const { rows } = await pool.query<{ sequence: number; text: string; context_id: string }>({
    name: 'task-events',
    text: EVENTS,
    values: [taskId, after, limit],
  });
  const events = rows.flatMap((row) => toEvents({ taskId, contextId: row.context_id }, row.text, row.sequence));
  const first = events.findIndex(({ sequence }) => sequence > after);
  return first < 0 ? [] : events.slice(first, first + limit);
}

/**
 * SQL query for the log rows with at most `$3` events after sequence `$2`. The first row may also have earlier events,
 * and the last row later ones.
 */
const EVENTS = `
  SELECT sequence, ${ROW_TEXT} AS text, (SELECT context_id FROM task WHERE task_id = $1) AS context_id
  FROM task_log
  WHERE task_id = $1 AND sequence > $2 AND sequence < $2::bigint + $3 + ${MOST_EVENTS} ORDER BY sequence LIMIT $3`;
