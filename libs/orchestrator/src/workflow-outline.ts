import type { SkillSchema } from '#libs/executor';

/** A workflow as the card of the service lists it. */
export interface WorkflowListing {
  name: string;
  revision: string;
  updatedAt: Date;
  /** Absent: its author wrote none. */
  description?: string;
}

/** Inputs and outputs of a workflow, with an example, for callers that the service knows. */
export interface WorkflowInterface extends SkillSchema {
  /** Absent: it has no inputs. */
  example?: string;
}

/** A node as the directory lists it. */
export interface ListedNode {
  /** Of a node of a workflow that stands in a node: `around.node`. */
  id: string;
  type: string;
  /** Absent: its author wrote none. */
  description?: string;
}

/** Outline of a workflow for those who do not run it; bounded, whatever size the definition has. */
export interface WorkflowSummary {
  description?: string;
  interface: WorkflowInterface;
  /** Sorted by id. */
  nodes: ListedNode[];
}
