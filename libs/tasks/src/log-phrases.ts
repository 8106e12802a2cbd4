/*
 * A row of `task_log` contains the events that one statement wrote for one Task, as one text, and the sequence of the
 * last of them. JSON contains no control characters, so these can separate events, separate an event from its received
 * Message, and replace the two ids in nearly every event and the beginning of nearly every event. Every version must be
 * able to read what was written with them.
 */
export const EVENT_END = '\u001e';
export const RECEIVED = '\u001f';
const TASK_ID = '\u0001';
const CONTEXT_ID = '\u0002';

/** A control character and the text that it replaces. The view `task_event` knows them too. */
export type Phrase = readonly [mark: string, text: string];

/** Beginning of an event's note. */
export const NOTE: Phrase = ['\u0006', ',"metadata":{"parley/event":{"type":"'];

/** Maximum characters of a shared row, so that reading half of it wastes little. A longer event is stored unchanged. */
export const MOST_CHARACTERS = 3_000;
/** Minimum length of an id that is worth replacing. */
export const SHORTEST_ID = 8;

/** Ids that are omitted from events. */
export interface LogReference {
  taskId: string;
  contextId: string;
}

/** Returns the beginnings of most events of a Task. Each is tried after those before it. */
export function beginningsOf({ taskId, contextId }: LogReference): [working: Phrase, status: Phrase, artifact: Phrase] {
  const ids = `"taskId":"${taskId}","contextId":"${contextId}"`;
  return [
    ['\u0003', `{"statusUpdate":{${ids},"status":{"state":"TASK_STATE_WORKING","timestamp":"`],
    ['\u0004', `{"statusUpdate":{${ids},"status":{"state":"TASK_STATE_`],
    ['\u0005', `{"artifactUpdate":{${ids},"artifact":{"artifactId":"`],
  ];
}

/** All phrases, for texts whose ids are not restored yet. */
const PHRASES: readonly Phrase[] = [...beginningsOf({ taskId: TASK_ID, contextId: CONTEXT_ID }), NOTE];

/**
 * Replaces the beginning of an event and of its note by their marks. An id of control characters, which could match
 * across a mark, never matches a beginning: JSON escapes it.
 */
export function shortenEvent(text: string, beginnings: readonly Phrase[]): string {
  for (const [mark, beginning] of beginnings) {
    // Comparing a slice takes a tenth of the time of `startsWith`.
    if (text.slice(0, beginning.length) === beginning) return mark + withoutNote(text.slice(beginning.length));
  }
  return text;
}

export function withoutNote(text: string): string {
  return text.replace(NOTE[1], NOTE[0]);
}

export function withoutIds(text: string, { taskId, contextId }: LogReference): string {
  return replaceId(replaceId(text, taskId, TASK_ID), contextId, CONTEXT_ID);
}

/** Restores everything that was omitted from a text. */
export function restoreText(text: string, { taskId, contextId }: LogReference): string {
  let all = text;
  for (const [mark, phrase] of PHRASES) all = all.split(mark).join(phrase);
  // In reverse order: an id of control characters would be mistaken for the mark that replaced it.
  return all.split(CONTEXT_ID).join(contextId).split(TASK_ID).join(taskId);
}

/** Replaces an id like `replaceAll`, in a quarter of its time. */
function replaceId(text: string, id: string, mark: string): string {
  if (id.length < SHORTEST_ID) return text;
  let [kept, from] = ['', 0];
  for (let at = text.indexOf(id); at >= 0; at = text.indexOf(id, from)) {
    kept += text.slice(from, at) + mark;
    from = at + id.length;
  }
  return from === 0 ? text : kept + text.slice(from);
}
