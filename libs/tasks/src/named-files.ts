import { KEPT_FILE, keptFileOf, type Part } from '#libs/protocol';
import type { RecordedEvent, TaskEvent } from './task-event.js';

/** Maximum number of files that one write of a Task records as used. */
const MOST_FILES = 1_000;
/** Maximum number of files that hold the bytes of Parts. They come first, since only their Parts name them. */
const MOST_KEPT_FILES = 10_000;
const PATH = '/api/files/';
/** A UUID of version 7. */
const ID = '[\\da-f]{8}-[\\da-f]{4}-7[\\da-f]{3}-[89ab][\\da-f]{3}-[\\da-f]{12}';
/** URL path of a caller's file with its id, at any address of this service. */
const FILE_PATH = new RegExp(`${PATH}(${ID})(?![\\da-f-])`, 'g');
const FILE_ID = new RegExp(`^${ID}$`);

/**
 * Returns the ids of the files whose URLs occur in events, each once: the first thousand, and those of all Parts whose
 * bytes are stored as files.
 * @returns `undefined` if there are none, as for nearly all events
 */
export function filesNamedIn(events: readonly RecordedEvent[]): string[] | undefined {
  let found: Set<string> | undefined;
  for (const { json, event } of events) {
    for (const id of keptFilesIn(json, event)) if ((found ??= new Set()).size < MOST_KEPT_FILES) found.add(id);
  }
  const most = (found?.size ?? 0) + MOST_FILES;
  for (const recorded of events) {
    for (const text of textsOf(recorded)) {
      if (!text.includes(PATH)) continue;
      for (const [, id = ''] of text.matchAll(FILE_PATH)) {
        if ((found ??= new Set()).size < most) found.add(id);
      }
    }
  }
  return found && [...found];
}

/** Returns the ids of stored files of Parts. Texts are ignored, since any author may write such metadata there. */
function keptFilesIn(json: string, event: TaskEvent): string[] {
  const received = ('statusUpdate' in event && event.received?.parts) || [];
  const parts = json.includes(KEPT_FILE) ? [...received, ...saidIn(event)] : received;
  const ids = parts.flatMap((part) => keptFileOf(part)?.id ?? []);
  return ids.filter((id) => FILE_ID.test(id));
}

function saidIn(event: TaskEvent): Part[] {
  if ('artifactUpdate' in event) return event.artifactUpdate.artifact.parts;
  if ('statusUpdate' in event) return event.statusUpdate.status.message?.parts ?? [];
  return (event.task.history ?? []).flatMap(({ parts }) => parts);
}

/** Returns the texts of an event to search. Its received Message is not part of its JSON. */
function textsOf({ json, event }: RecordedEvent): string[] {
  const received = 'statusUpdate' in event ? event.received : undefined;
  return received ? [json, ...received.parts.flatMap(({ url }) => url ?? [])] : [json];
}
