import type { SkillSchema } from '#libs/executor';

/** A workflow on the card of the service. */
export interface WorkflowListing {
  name: string;
  revision: string;
  updatedAt: Date;
  /** Description of the author, if any. */
  description?: string;
}

/** Inputs and outputs of a workflow, with an example, for authenticated callers. */
export interface WorkflowInterface extends SkillSchema {
  /** Example of the inputs; absent without inputs. */
  example?: string;
}

/** A node in the directory. */
export interface ListedNode {
  /** Id of the node; for a node of an inline workflow `around.node`. */
  id: string;
  type: string;
  /** Description of the author, if any. */
  description?: string;
}

/** Outline of a workflow. Its size is bounded, whatever the size of the definition. */
export interface WorkflowSummary {
  description?: string;
  interface: WorkflowInterface;
  /** Nodes sorted by id. */
  nodes: ListedNode[];
}
