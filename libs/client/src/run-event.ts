/** Event of a run's stream. */
export interface RunEvent {
  /** Id, which is the same whenever the event is read. */
  id: string;
  /** Type: `node.started`, `node.progress`, `node.completed`, `input.required`, …; the last one is `done`. */
  type: string;
  runId: string;
  workflow: string;
  /** Position in the run's log, from 1 without gaps. */
  sequence: number;
  /** ISO 8601. */
  timestamp: string;
  node_id?: string;
  node_type?: string;
  /** Instance, if the node has several: `draft@2`, `tr[17]`. */
  instance?: string;
  payload: Record<string, unknown>;
  [field: string]: unknown;
}
