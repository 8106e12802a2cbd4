import type { WorkflowEdge } from './workflow.js';

/** Fault of a graph. */
export interface GraphFault {
  code: 'DUPLICATE_NODE' | 'UNKNOWN_NODE' | 'CYCLE' | 'INVALID_LOOP' | 'INVALID_EXIT';
  text: string;
  /** Index in `edges` of the edge with the fault. */
  edge?: number;
}

/** Edge of a graph, with its index in `edges`. */
export interface GraphEdge {
  readonly index: number;
  readonly from: string;
  readonly to: string;
  readonly edge: WorkflowEdge;
}
