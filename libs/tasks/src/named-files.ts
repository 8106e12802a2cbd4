import type { RecordedEvent } from './task-event.js';

/** Files that one write of a Task notes as used, at most. */
const MOST_FILES = 1_000;
const PATH = '/api/files/';
/** Where a file of a caller is read, with its id (a UUID of version 7), at whatever address this service has. */
const FILE_PATH = new RegExp(
  `${PATH}([\\da-f]{8}-[\\da-f]{4}-7[\\da-f]{3}-[89ab][\\da-f]{3}-[\\da-f]{12})(?![\\da-f-])`,
  'g',
);

/**
 * Returns the ids of the files that events name by their URLs, each once: those of the first thousand.
 * @returns `undefined` where they name none, as nearly all do
 */
export function filesNamedIn(events: readonly RecordedEvent[]): string[] | undefined {
  let found: Set<string> | undefined;
  for (const recorded of events) {
    for (const text of textsOf(recorded)) {
      if (!text.includes(PATH)) continue;
      for (const [, id = ''] of text.matchAll(FILE_PATH)) {
        if ((found ??= new Set()).size < MOST_FILES) found.add(id);
      }
    }
  }
  return found && [...found];
}

/** A Message that an event took in is no part of its JSON. */
function textsOf({ json, event }: RecordedEvent): string[] {
  const received = 'statusUpdate' in event ? event.received : undefined;
  return received ? [json, ...received.parts.flatMap(({ url }) => url ?? [])] : [json];
}
