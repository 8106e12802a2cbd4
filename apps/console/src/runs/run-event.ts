import type { EventData } from '../console-panel/format-event.js';

export type { Artifact, Part } from '../api/task.js';

/** One step of a run, as the service tells it. */
export interface RunEvent extends EventData {
  type: string;
  sequence: number;
  timestamp: string;
  node_id?: string;
  node_type?: string;
  /** Which of the node's instances, where it is not the only one. */
  instance?: string;
  payload: Readonly<Record<string, unknown>>;
}
