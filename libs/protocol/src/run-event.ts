import type { JsonObject } from './json.js';

/** Metadata key under which a Task event names the step of an agent's work it represents. */
export const RUN_EVENT_KEY = 'parley/event';

/** A step of an agent's work (`model.request`, `node.started`, …), carried in the metadata of a Task event. */
export interface RunEventNote {
  type: string;
  node_id?: string;
  node_type?: string;
  /** Instance of the node, if it has more than one: `draft@2`, `tr[17]`. */
  instance?: string;
  payload: JsonObject;
  /** Time of the step (ISO 8601), on events without a time of their own: artifact updates. */
  timestamp?: string;
}

/** Returns metadata that marks a Task event as a step. */
export function runEventMetadata(note: RunEventNote): JsonObject {
  return { [RUN_EVENT_KEY]: note as unknown as JsonObject };
}

/** Reads the step from a Task event's metadata, if any. */
export function runEventNote(metadata: JsonObject | undefined): RunEventNote | undefined {
  return metadata?.[RUN_EVENT_KEY] as unknown as RunEventNote | undefined;
}
