import type { EventData } from '../console-panel/format-event.js';

export type { A2aArtifact, A2aPart } from '../api/task.js';

/** An event of a run. */
export interface RunEvent extends EventData {
  type: string;
  sequence: number;
  timestamp: string;
  node_id?: string;
  node_type?: string;
  /** Name of the instance, if the node has several. */
  instance?: string;
  payload: Readonly<Record<string, unknown>>;
}
