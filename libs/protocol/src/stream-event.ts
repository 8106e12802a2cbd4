import { isJsonObject, type JsonObject } from './json.js';

/** The metadata key under which a Task event carries an event of a live stream (`a2a`, …), as that stream shows it. */
export const STREAM_EVENT_KEY = 'parley/stream';

/** An event of a live stream. Whoever shows streams needs to know nothing else of it. */
export interface StreamEvent {
  /** The stream that it belongs to. */
  stream: string;
}

/** Metadata that makes a Task event an event of a live stream too. */
export function streamEventMetadata(event: StreamEvent): JsonObject {
  return { [STREAM_EVENT_KEY]: event as unknown as JsonObject };
}

/** The event of a live stream that a Task event's metadata carries, if any. */
export function streamEvent(metadata: JsonObject | undefined): (StreamEvent & JsonObject) | undefined {
  const event = metadata?.[STREAM_EVENT_KEY];
  return isJsonObject(event) && typeof event['stream'] === 'string' ? (event as StreamEvent & JsonObject) : undefined;
}
