/** One step of a run, as its streams tell it. */
export interface RunEvent {
  /** The same whenever the event is read. */
  id: string;
  /** `node.started`, `node.progress`, `node.completed`, `input.required`, …; the last one is `done`. */
  type: string;
  runId: string;
  workflow: string;
  /** Position in the run's log, from 1 without a gap. */
  sequence: number;
  /** ISO 8601. */
  timestamp: string;
  node_id?: string;
  node_type?: string;
  /** Where it is not the node's only one: `draft@2`, `tr[17]`. */
  instance?: string;
  payload: Record<string, unknown>;
  [field: string]: unknown;
}
