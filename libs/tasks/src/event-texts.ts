import { type Artifact, TASK_STATES, type TaskArtifactUpdateEvent, type TaskStatusUpdateEvent } from '#libs/protocol';
import {
  beginningsOf,
  type LogReference,
  MOST_CHARACTERS,
  type Phrase,
  SHORTEST_ID,
  withoutIds,
  withoutNote,
} from './log-phrases.js';
import { type TaskEvent, toStreamResponse } from './task-event.js';

export interface EventText {
  /** The event as a ProtoJSON StreamResponse. */
  json: string;
  /** The event encoded as a log row (log-phrases.ts); set if the row was built together with the JSON. */
  row?: string;
}

/** Characters that may need escaping in JSON. */
const NOT_PLAIN = /[^ !#-[\]-~]/;
const STATES = new Set<string>(TASK_STATES);
const STATE_PREFIX = 'TASK_STATE_'.length;
const ARTIFACT_BEGINS = '{"artifactId":"';
const TIME_FOLLOWS = ',"timestamp":"';
/** JSON beginnings of frequent members of events. */
const MEMBER_BEGINNINGS: ReadonlyMap<string, string> = new Map(
  ['timestamp', 'message', 'metadata', 'append', 'lastChunk'].map((name) => [name, memberBeginning(name)]),
);
/** Length below which replacing ids in a text is not worth it: a status without a Message. */
const FEW_CHARACTERS = 60;

type Beginnings = ReturnType<typeof beginningsOf>;

/**
 * Serializes the events of one Task with exactly the output of `JSON.stringify`. The beginnings of nearly all events
 * are known, so only the rest is serialized, once for both the JSON and the row.
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

  /** @param beside contains the note of the event, if any */
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
 * Returns the members after the expected first ones, as JSON, each after a comma; `undefined` if the object begins with
 * others.
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

/** Returns the output of `JSON.stringify`, without its call for short values such as a time or `true`. */
function jsonOf(value: unknown): string | undefined {
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'string' && value.length < FEW_CHARACTERS && !NOT_PLAIN.test(value)) return `"${value}"`;
  return JSON.stringify(value);
}
