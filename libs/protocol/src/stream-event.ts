import { isJsonObject, type JsonObject } from './json.js';

/** Metadata key under which a Task event carries an event of a live stream (`a2a`, …), in that stream's format. */
export const STREAM_EVENT_KEY = 'parley/stream';

/** An event of a live stream. Code that shows streams needs to know nothing else about it. */
export interface StreamEvent {
  /** Name of the stream. */
  stream: string;
}

/** Returns metadata that makes a Task event also an event of a live stream. */
export function streamEventMetadata(event: StreamEvent): JsonObject {
  return { [STREAM_EVENT_KEY]: event as unknown as JsonObject };
}

/** Reads the live stream event from a Task event's metadata, if any. */
export function streamEvent(metadata: JsonObject | undefined): (StreamEvent & JsonObject) | undefined {
  const event = metadata?.[STREAM_EVENT_KEY];
  return isJsonObject(event) && typeof event['stream'] === 'string' ? (event as StreamEvent & JsonObject) : undefined;
}
