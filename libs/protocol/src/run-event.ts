import type { JsonObject } from './json.js';

/** The metadata key under which a Task event tells which step of an agent's work it stands for. */
export const RUN_EVENT_KEY = 'parley/event';

/** A step of an agent's work (`model.request`, `node.started`, …), carried in the metadata of a Task event. */
export interface RunEventNote {
  type: string;
  node_id?: string;
  node_type?: string;
  /** Which of the node's instances it is, where it has more than one: `draft@2`, `tr[17]`. */
  instance?: string;
  payload: JsonObject;
  /** When it happened (ISO 8601), on events that carry no time of their own: artifact updates. */
  timestamp?: string;
}

/** Metadata that marks a Task event as a step. */
export function runEventMetadata(note: RunEventNote): JsonObject {
  return { [RUN_EVENT_KEY]: note as unknown as JsonObject };
}

/** The step that a Task event's metadata names, if any. */
export function runEventNote(metadata: JsonObject | undefined): RunEventNote | undefined {
  return metadata?.[RUN_EVENT_KEY] as unknown as RunEventNote | undefined;
}
