import { createHash } from 'node:crypto';
import type { RecordedEvent } from './task-event.js';

/**
 * Place in a log: the sequence of an event and a digest of its JSON. A server that took over from another one may have
 * a different event at that sequence, so the sequence alone proves nothing.
 */
export interface LogPlace {
  readonly sequence: number;
  readonly digest: string;
}

/** Returns the place of an event. */
export function placeOfEvent({ sequence, json }: Pick<RecordedEvent, 'sequence' | 'json'>): LogPlace {
  return { sequence, digest: createHash('sha256').update(json).digest('base64') };
}

/** Reads at most `limit` events after a sequence. */
type ReadLogEvents = (afterSequence: number, limit: number) => Promise<readonly RecordedEvent[]>;

/**
 * Reads the events after a place, up to `lastSequence`, and verifies the event at the place. Returns `undefined` if the
 * log has a different event there, or ends before `lastSequence`, as the log of a purged Task does.
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
