import type { WorkflowEdge } from './workflow.js';

/** What is wrong with a graph. */
export interface GraphFault {
  code: 'DUPLICATE_NODE' | 'UNKNOWN_NODE' | 'CYCLE' | 'INVALID_LOOP' | 'INVALID_EXIT';
  text: string;
  /** The place in `edges` of the edge that it is about. */
  edge?: number;
}

/** An edge of a graph, and its place in `edges`. */
export interface GraphEdge {
  readonly index: number;
  readonly from: string;
  readonly to: string;
  readonly edge: WorkflowEdge;
}
